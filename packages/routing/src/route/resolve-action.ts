import type { RoutingErrorCode } from '../error-codes.ts';
import type { CompiledAction } from './compile/route.ts';
import type { MatchedRoute } from './compile/virtual-host.ts';
import type { DownstreamHead } from './downstream-head.ts';
import { matchedLength } from './match/matcher.ts';
import type { RouteEntry } from './match/route-index.ts';
import { locationOf } from './options/redirect.ts';

/** What happens to a request that every concern accepted. */
export type ResolvedAction =
  | Exclude<CompiledAction, { readonly type: 'redirect' }>
  | { readonly type: 'redirected'; readonly status: number; readonly location: string }
  | { readonly type: 'rejected'; readonly code: RoutingErrorCode };

/** Resolves the action of a route for one request: a redirect becomes its location. */
export function resolveAction(head: DownstreamHead, { route, matcher }: RouteEntry<MatchedRoute>): ResolvedAction {
  const { action } = route.compiled;
  if (action.type !== 'redirect') return action;
  const { scheme, authority, path, pathname } = head;
  const matched = matchedLength(matcher, pathname);
  const location = locationOf(action.redirect, { scheme, authority, path, pathname, matched });
  if (location === undefined) return { type: 'rejected', code: 'ERR_ROUTING_DOT_SEGMENT' };
  return { type: 'redirected', status: action.redirect.status, location };
}
