import type { FieldProblem } from '../../resource/problem.ts';
import type { RouteAction } from '../../contract/snapshot.ts';
import type { InvalidRoutes } from '../translation-settings.ts';

/** The response instead of a destination. */
export type Replacement = Pick<InvalidRoutes, 'status' | 'body'>;

/** The response for a destination that was deleted. */
export const GONE: Replacement = Object.freeze({ status: 503, body: 'no healthy upstream' });

/** The response of a route whose policies are not known. */
export const WITHHELD: Replacement = Object.freeze({ status: 500, body: '' });

/** The action of a route whose only destination is broken. */
export function replacement({ status, body }: Replacement, reason: string): RouteAction {
  return Object.freeze({ type: 'replacement', status, body, reason });
}

/** Returns the action with its broken destinations replaced; the whole action is replaced if none is left. */
export function withBroken(
  { destinations }: Extract<RouteAction, { type: 'forward' }>,
  faults: readonly (FieldProblem | undefined)[],
  { status, body }: Replacement,
): RouteAction {
  const shares = destinations.map((share, i) => {
    const reason = faults[i]?.message;
    return reason === undefined ? share : Object.freeze({ ...share, broken: Object.freeze({ status, body, reason }) });
  });
  const [first] = shares;
  const isUsable = shares.some((share) => !('broken' in share) && share.weight > 0);
  if (!isUsable && first && 'broken' in first) return replacement({ status, body }, faults[0]!.message);
  return Object.freeze({ type: 'forward', destinations: Object.freeze(shares) });
}

/**
 * Returns the action of a route with errors of its own: all of it is replaced, including healthy shares. Redirects and direct
 * responses are kept.
 */
export function replaceFailed(action: RouteAction, invalidRoutes: InvalidRoutes, reason: string): RouteAction {
  return action.type === 'redirect' || action.type === 'direct' ? action : replacement(invalidRoutes, reason);
}
