import type { IncomingMessage } from 'node:http';
import type { Concern, Context, Facts, GatewayError, Listener, SnapshotSettings } from '@edge-gateway/core';
import type { MatchedRoute } from '../../route/compile/route.ts';
import type { DownstreamHead } from '../../route/downstream-head.ts';
import type { RouteEntry } from '../../route/match/route-index.ts';
import type { ManagerSettings } from '../../route/options/manager-settings.ts';
import type { ExplainedReply, OptionEffect } from '../explanation.ts';

/** A request with its route, and the options that apply to it. */
export interface EffectInput {
  readonly req: IncomingMessage;
  readonly head: DownstreamHead;
  readonly facts: Facts;
  readonly entry: RouteEntry<MatchedRoute>;
  readonly context: Context;
  readonly listener: Listener;
  readonly settings: ManagerSettings;
  /** With those of the listener. */
  readonly shared: SnapshotSettings;
  /** Returns the block of a concern that applies. */
  blockOf<B>(concern: BlockOf<B>): B | undefined;
}

/** The part of a concern that selects its block. */
export type BlockOf<B> = Pick<Concern<B>, 'option' | 'pick'>;

/** The effect of an option; with its response if it ends the request. */
export interface Effect extends OptionEffect {
  readonly reply?: ExplainedReply;
}

/** Returns the effect of one option on a request; `undefined` if it has none. */
export type EffectRule = (input: EffectInput) => Effect | undefined;

/** Returns the response of a concern that ends a request. */
export function replyOf({ code, status, reply, message }: GatewayError, why: string): ExplainedReply {
  return { status, body: String(reply?.body ?? message), reason: `${code}: ${why}` };
}

/** Returns a share from 0 to 1 of the requests in words, e.g. `25 % of the requests, at random`. */
export function shareText(share: number): string {
  return share >= 1 ? 'every request' : `${Number((share * 100).toFixed(4))} % of the requests, at random`;
}
