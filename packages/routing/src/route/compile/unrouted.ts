import type { Concern, Context, Handler, Listener, SnapshotSettings } from '@edge-gateway/core';
import { listenerBlocks } from './listener-blocks.ts';
import { EMPTY_PLAN, type Plan } from './route.ts';

/** What applies to the requests of a listener that no route matches. */
export interface Unrouted {
  readonly plan: Plan;
  /** Releases its state that outlives reloads. */
  release(): void;
}

/** What is compiled from a listener. */
interface UnroutedInput {
  readonly source: Listener;
  /** With the blocks of the listener. */
  readonly shared: SnapshotSettings;
  readonly concerns: readonly Concern[];
  readonly context: Context;
}

/** Compiles the concerns that apply to requests without a route; `undefined` if there are none. If one cannot be compiled, they return 500. */
export function compileUnrouted({ source, shared, concerns, context }: UnroutedInput): Unrouted | undefined {
  const blocks = listenerBlocks(source, shared);
  const hold = context.holdStates?.();
  const held = hold ? { ...context, state: hold.state.bind(hold) } : context;
  const chain = concerns.flatMap((concern): Handler[] => {
    const block = blocks[concern.option];
    if (block === undefined || !concern.compileUnrouted) return [];
    try {
      const handler = concern.compileUnrouted(block, held, shared);
      return handler ? [handler] : [];
    } catch (error) {
      return [(_req, _res, next) => next(error)];
    }
  });
  if (chain.length === 0) {
    hold?.release();
    return undefined;
  }
  return { plan: { ...EMPTY_PLAN, chain }, release: () => hold?.release() };
}
