import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { RateLimitConfigRefs, RateLimitVhost } from '../../schema/route/rate-limit.ts';
import type { RateLimitLevel } from '../../schema/route/route-options.ts';
import { each, fields, type Check } from '../check.ts';
import { checkBasic, checkBucket, invalidRateLimit, noEffect, WARNING } from './limits.ts';
import { checkConcurrency, checkRateLimits } from './check-rate-limit-actions.ts';

/** Returns problems of the rate limits of one level. */
export const checkRateLimitOptions: Check<RateLimitLevel> = (options, at) => [
  ...fields(options, at, {
    ratelimit: checkBlock,
    ratelimitEarly: checkBlock,
    ratelimitRegular: checkBlock,
    ratelimitBasic: checkBasic,
    rateLimitConfigs: checkRefs,
    rateLimitEarlyConfigs: checkRefs,
    rateLimitRegularConfigs: checkRefs,
  }),
  ...localProblems(options, at),
];

/** Returns problems of where the local limit of one level is. */
export function localProblems(
  { ratelimit, ratelimitEarly, ratelimitRegular }: RateLimitLevel,
  at: FieldPath,
): FieldProblem[] {
  const isTwice = ratelimit?.localRatelimit && ratelimitEarly?.localRatelimit;
  return [
    ...invalidRateLimit(
      ratelimitRegular?.localRatelimit &&
        'localRatelimit cannot be in ratelimitRegular, because local limits apply before auth',
      [...at, 'ratelimitRegular', 'localRatelimit'],
      { hint: 'ratelimit or ratelimitEarly' },
    ),
    ...invalidRateLimit(isTwice && 'localRatelimit cannot be in both ratelimit and ratelimitEarly', [
      ...at,
      'ratelimitEarly',
      'localRatelimit',
    ]),
  ];
}

const checkBlock: Check<RateLimitVhost> = (block, at) =>
  fields(block, at, { rateLimits: checkRateLimits, localRatelimit: checkBucket, concurrency: checkConcurrency });

const checkRefs: Check<RateLimitConfigRefs> = ({ refs = [] }, at) => [
  ...each(refs, [...at, 'refs'], ({ name }, path) => invalidRateLimit(!name && 'the reference has no name', path)),
  ...noEffect(refs.length === 0 && 'no RateLimitConfig is listed', at, WARNING),
];
