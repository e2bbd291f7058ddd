import type { Destination, RouteAction } from '../snapshot.ts';
import type { InvalidRoutes } from './settings.ts';

/** The action of a route whose only destination is broken. */
export function replacement({ status, body }: InvalidRoutes, reason: string): RouteAction {
  return Object.freeze({ type: 'replacement', status, body, reason });
}

/** What the broken share of a weighted route answers. */
export function brokenShare({ status, body }: InvalidRoutes, reason: string): NonNullable<Destination['broken']> {
  return Object.freeze({ status, body, reason });
}

/**
 * The action of a route that has errors of its own: all of it is replaced, also the healthy shares. Redirects and direct
 * responses stay.
 */
export function replaceFailed(action: RouteAction, invalidRoutes: InvalidRoutes, reason: string): RouteAction {
  return action.type === 'redirect' || action.type === 'direct' ? action : replacement(invalidRoutes, reason);
}
