import type { HeaderChange } from '@edge-gateway/core';
import { strictestOutcome, type Decision, type RuleOutcome } from '../limiter.ts';

/** Returns `x-ratelimit-*` of a response as response changes, in the syntax of draft-polli-ratelimit-headers-03. */
export function limitHeaders(decision: Decision): HeaderChange[] {
  const strictest = strictestOutcome(decision);
  if (!strictest) return [];
  const { limit, remaining, resetMs } = strictest;
  const policies = decision.outcomes.filter(({ isShadow }) => !isShadow).map(policyOf);
  return [
    { op: 'set', name: 'x-ratelimit-limit', value: [limit.requests, ...policies].join(', ') },
    { op: 'set', name: 'x-ratelimit-remaining', value: String(remaining) },
    { op: 'set', name: 'x-ratelimit-reset', value: String(secondsOf(resetMs)) },
  ];
}

function policyOf({ limit }: RuleOutcome): string {
  return `${limit.requests};w=${limit.unitMs / 1000}`;
}

/** Returns whole seconds, at least 1 for a time that is not over. */
export function secondsOf(resetMs: number): number {
  return Math.max(0, Math.ceil(resetMs / 1000));
}
