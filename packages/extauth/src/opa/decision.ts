import type { AuthDecision } from '@edge-gateway/core';

/**
 * Returns the decision of a result: only `true`, and a list whose first element is `true`, allow the request. With `withReason` an allowed
 * request carries the second element as metadata.
 */
export function decisionOf(result: unknown, { withReason }: { readonly withReason: boolean }): AuthDecision {
  const [allowed, body = null] = Array.isArray(result) ? (result as unknown[]) : [result];
  if (allowed !== true) return { allowed: false, status: 403, reason: 'the policy denies the request' };
  return { allowed: true, ...(withReason && { metadata: { reason: { allowed, body } } }) };
}
