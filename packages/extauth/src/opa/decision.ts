import type { AuthDecision } from '@edge-gateway/core';

/**
 * Returns the decision of a result: only `true`, and a list whose first element is `true`, allow the request. With `withReason` the second
 * element is metadata of the request, also of a denied one.
 */
export function decisionOf(result: unknown, { withReason }: { readonly withReason: boolean }): AuthDecision {
  const [allowed, body = null] = Array.isArray(result) ? (result as unknown[]) : [result];
  const told = withReason && { metadata: { reason: { allowed: allowed === true, body } } };
  if (allowed !== true) return { allowed: false, status: 403, reason: 'the policy denies the request', ...told };
  return { allowed: true, ...told };
}
