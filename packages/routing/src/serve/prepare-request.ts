import type { Destination } from '@edge-gateway/core';
import type { RoutingErrorCode } from '../error-codes.ts';
import type { CompiledDestination } from '../route/compile/route.ts';
import { applyHeaderOps } from '../route/options/header-manipulation.ts';
import type { ForwardAction, RespondAction } from './request-exits.ts';
import {
  makeUpstreamHead,
  rewritePath,
  takeForDestination,
  type OutgoingRequest,
  type Picks,
} from './upstream-head.ts';

/** Why a request is not sent to its destination. */
export type SendProblem =
  | { readonly type: 'replaced'; readonly by: NonNullable<Destination['broken']> }
  | { readonly type: 'noCluster' }
  | { readonly type: 'rejected'; readonly code: RoutingErrorCode };

/** Where a request goes; `upstream` is missing if its cluster does not exist. */
export interface Sending<U extends Picks> {
  readonly destination: CompiledDestination;
  readonly action: ForwardAction;
  readonly upstream: U | undefined;
  readonly isUpgrade: boolean;
}

/** Makes the head that the destination gets, in place; returns what prevents sending it. */
export function prepareUpstream(request: OutgoingRequest, sending: Sending<Picks>): SendProblem | undefined {
  const { destination, action, upstream, isUpgrade } = sending;
  if (isUpgrade && !action.policy.websocket) return { type: 'rejected', code: 'ERR_ROUTING_UPGRADE' };
  if (destination.broken) return { type: 'replaced', by: destination.broken };
  if (!upstream) return { type: 'noCluster' };
  if (makeUpstreamHead(request, action.policy, upstream)) return undefined;
  return { type: 'rejected', code: 'ERR_ROUTING_DOT_SEGMENT' };
}

/** Makes the head that an action of a package gets, in place; returns the code of a rejected request. */
export function prepareResponder(
  request: OutgoingRequest,
  { prefixRewrite, websocket }: RespondAction,
  isUpgrade: boolean,
): RoutingErrorCode | undefined {
  const { head, facts, route } = request;
  if (facts) takeForDestination(head.headers, facts);
  applyHeaderOps(head.headers, route.plan.headers.request, request);
  if (!rewritePath(request, prefixRewrite)) return 'ERR_ROUTING_DOT_SEGMENT';
  return isUpgrade && !websocket ? 'ERR_ROUTING_UPGRADE' : undefined;
}
