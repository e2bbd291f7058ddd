import type { Decision, RuleOutcome } from '../limiter.ts';
import { OK, OVER_LIMIT, type WireResponse, type WireStatus } from '../protocol/messages.ts';
import { unitOfNumber } from '../protocol/units.ts';
import { rateLimitError } from '../error-codes.ts';
import { fromStruct } from '@edge-gateway/core/grpc';
import { UNIT_MS, type Limit, type Unit } from '../rules/limit.ts';

/** Most rules in a response: each has metrics of its own. */
const MAX_RULES = 1000;

/**
 * Returns the decision of a rate limit server. Throws `ERR_RATE_LIMIT_SERVICE` if its code is neither OK nor over the limit, and for more
 * than 1,000 rules. Statuses with a unit that is not known are left out.
 */
export function decisionOfResponse({ overallCode, statuses = [], dynamicMetadata }: WireResponse): Decision {
  if (overallCode !== OK && overallCode !== OVER_LIMIT) {
    throw rateLimitError('ERR_RATE_LIMIT_SERVICE', `the rate limit server responded with code ${overallCode}`);
  }
  const shadow = dynamicMetadata && fromStruct(dynamicMetadata)['shadow_over_limit'];
  const shadowRules = typeof shadow === 'string' ? shadow.split(',', MAX_RULES + 1) : [];
  if (statuses.length + shadowRules.length > MAX_RULES) {
    throw rateLimitError('ERR_RATE_LIMIT_SERVICE', `the rate limit server responded with more than ${MAX_RULES} rules`);
  }
  const outcomes = [...statuses.flatMap(outcomeOf), ...shadowRules.map(shadowOutcome)];
  return { isAllowed: overallCode === OK, outcomes };
}

function outcomeOf({ code, currentLimit, limitRemaining = 0, durationUntilReset }: WireStatus): RuleOutcome[] {
  const unit = currentLimit && unitOfNumber(currentLimit.unit ?? 0);
  if (!unit) return [];
  const { seconds = 0, nanos = 0 } = durationUntilReset ?? {};
  return [
    {
      rule: currentLimit.name ?? '',
      limit: limitOf(currentLimit.requestsPerUnit ?? 0, unit),
      isShadow: false,
      isForeign: true,
      isOver: code === OVER_LIMIT,
      remaining: limitRemaining,
      resetMs: Math.max(0, seconds * 1000 + nanos / 1e6),
    },
  ];
}

function limitOf(requests: number, unit: Unit): Limit {
  return { requests, unit, unitMs: UNIT_MS[unit], algorithm: 'FIXED_WINDOW', burst: requests };
}

/** Only the names of such rules are known, and that they are over their limit. */
function shadowOutcome(rule: string): RuleOutcome {
  return {
    rule,
    limit: limitOf(0, 'SECOND'),
    isShadow: true,
    isForeign: true,
    isOver: true,
    remaining: 0,
    resetMs: 0,
  };
}
