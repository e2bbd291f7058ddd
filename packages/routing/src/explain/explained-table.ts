import type {
  ActionKind,
  Concern,
  Context,
  Handler,
  Listener,
  Route,
  Snapshot,
  SnapshotSettings,
  Stage,
  VirtualHost,
} from '@edge-gateway/core';
import { blockFor } from '../route/compile/chain.ts';
import { concernsFor, listenerBlocks, withListenerBlocks } from '../route/compile/listener-blocks.ts';
import { compileSettings } from '../route/options/manager-settings.ts';
import { withoutPort } from '../route/options/redirect.ts';
import type { CompiledAction } from '../route/compile/route.ts';
import { compileVirtualHost, type CompiledHost } from '../route/compile/virtual-host.ts';
import type { BlockOf } from './effects/effect.ts';
import { createDomainIndex } from '../route/match/domain.ts';
import type { RouteTable } from '../route/route-request.ts';
import {
  earlyTransformationConcern,
  postRoutingTransformationConcern,
  regularTransformationConcern,
} from '../transform/concern.ts';
import { restFunctionConcern } from '../transform/rest-function.ts';

/** Explanations only need to know that there is a responder. */
const EXPLAINED_ACTIONS: readonly ActionKind[] = [{ action: 'graphql', compile: () => () => {} }];

/** The routes of a listener and their transformations. It compiles a virtual host when a request first needs it. */
export interface ExplainedTable extends RouteTable {
  /** Returns the transformation of a stage; of several destinations that of the first that gets requests. */
  transformationOf(action: CompiledAction, stage: 'early' | 'regular'): Handler | undefined;
  /** Returns the block of a concern for a route; of several destinations that of the first that gets requests. */
  blockOf<B>(concern: BlockOf<B>, host: VirtualHost, route: Route): B | undefined;
  readonly context: Context;
  readonly listener: Listener;
  /** The settings with those of the listener. */
  readonly shared: SnapshotSettings;
}

export function createExplainedTable(snapshot: Snapshot, listener: Listener, context: Context): ExplainedTable {
  const { settings, failed } = compileSettings(listener);
  const shared = withListenerBlocks(snapshot.settings, listener);
  const stages = new Map<Handler, Stage>();
  const staged = <T>(concern: Concern<T>): Concern<T> => ({
    ...concern,
    compile(...parts) {
      const handler = concern.compile(...parts);
      if (handler) stages.set(handler, concern.stage);
      return handler;
    },
  });
  const environment = {
    actions: EXPLAINED_ACTIONS,
    concerns: [
      staged(earlyTransformationConcern),
      staged(regularTransformationConcern),
      postRoutingTransformationConcern,
      restFunctionConcern,
    ] as readonly Concern[],
    context,
    settings,
    shared,
    mostSpecificWins: listener.routeOptions.mostSpecificHeaderMutationsWins === true,
    listenerOptions: {},
  };
  const blocks = listenerBlocks(listener, shared);
  const compiled = new Map<VirtualHost, CompiledHost>();
  const find = createDomainIndex(
    listener.virtualHosts.flatMap((value) => value.domains.map((domain) => ({ domain, value }))),
  );
  return {
    settings,
    failed,
    findHost(authority) {
      const found = find(listener.routeOptions.ignorePortInHostMatching ? withoutPort(authority) : authority);
      if (!found) return undefined;
      const { domain, value: source } = found;
      let host = compiled.get(source);
      if (!host) compiled.set(source, (host = compileVirtualHost(source, environment)));
      return { domain, value: host };
    },
    transformationOf: (action, stage) =>
      chainOf(action).find((handler) => stages.get(handler) === `${stage}Transformation`),
    blockOf<B>(concern: BlockOf<B>, host: VirtualHost, { action, options }: Route): B | undefined {
      const [served] = concernsFor([concern as Concern], listener.httpOptions);
      const destinations = action.type === 'forward' ? action.destinations : [];
      const levels = [firstOf(destinations)?.options, options, host.options];
      return served && (blockFor(served, levels, blocks) as B | undefined);
    },
    context,
    listener,
    shared,
  };
}

function chainOf(action: CompiledAction): readonly Handler[] {
  if (action.type === 'failed') return [];
  if (action.type !== 'forward') return action.plan.chain;
  return firstOf(action.destinations)?.chain ?? [];
}

/** Returns the first destination that gets requests. */
function firstOf<D extends { readonly weight: number }>(destinations: readonly D[]): D | undefined {
  return destinations.find(({ weight }) => weight > 0) ?? destinations[0];
}
