import type { Facts } from '@edge-gateway/core';
import { strictestOutcome, type Decision, type RuleOutcome } from '../limiter.ts';
import { showLimit } from './shown-limit.ts';

/** Shows a decision in the response, in the syntax of draft-polli-ratelimit-headers-03. */
export function showDecision(facts: Facts, decision: Decision): void {
  const strictest = strictestOutcome(decision);
  if (!strictest) return;
  const { limit, remaining, resetMs, isOver } = strictest;
  const policies = decision.outcomes.filter(({ isShadow }) => !isShadow).map(policyOf);
  const limits = [limit.requests, ...policies].join(', ');
  showLimit(facts, { isOver, remaining, resetMs, limit: limits, resetSeconds: secondsOf(resetMs) });
}

function policyOf({ limit }: RuleOutcome): string {
  return `${limit.requests};w=${limit.unitMs / 1000}`;
}

/** Returns whole seconds, at least 1 for a time that is not over. */
export function secondsOf(resetMs: number): number {
  return Math.max(0, Math.ceil(resetMs / 1000));
}
