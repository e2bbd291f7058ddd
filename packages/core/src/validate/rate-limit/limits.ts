import type { FieldProblem } from '../../resource/problem.ts';
import type { RateLimit, RateLimitBasic, TokenBucket } from '../../schema/route/rate-limit.ts';
import { parseDuration } from '../../syntax/duration.ts';
import { fields, reporterOf, type Check } from '../check.ts';

/** Maximum length of keys and values of descriptors, in bytes. */
const MAX_TEXT_BYTES = 1024;
/** The shortest interval at which a token bucket is filled. */
const MIN_FILL_MS = 50;

export const invalidRateLimit = reporterOf('INVALID_RATE_LIMIT');
export const noEffect = reporterOf('NO_EFFECT');
export const WARNING = { severity: 'warning' } as const;

/** Returns problems of a number of requests per unit. */
export const checkLimit: Check<RateLimit> = ({ unit, algorithm, burst }, at) => [
  ...invalidRateLimit(unit === 'UNKNOWN' && 'UNKNOWN is not a unit of time', [...at, 'unit'], {
    hint: 'SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, YEAR',
  }),
  ...noEffect(
    burst !== undefined && algorithm !== 'TOKEN_BUCKET' && 'burst has no effect without algorithm TOKEN_BUCKET',
    [...at, 'burst'],
    WARNING,
  ),
];

/** Returns problems of the limits for known and unknown users. */
export const checkBasic: Check<RateLimitBasic> = (basic, at) => [
  ...fields(basic, at, { anonymousLimits: checkLimit, authorizedLimits: checkLimit }),
  ...noEffect(
    !basic.anonymousLimits && !basic.authorizedLimits && 'ratelimitBasic without limits allows every request',
    at,
    WARNING,
  ),
];

/** Returns problems of a token bucket. */
export const checkBucket: Check<TokenBucket> = ({ fillInterval }, at) =>
  invalidRateLimit(
    fillInterval !== undefined &&
      parseDuration(fillInterval) < MIN_FILL_MS &&
      `invalid fillInterval ${fillInterval}: it must be at least ${MIN_FILL_MS}ms`,
    [...at, 'fillInterval'],
  );

/** Returns the problem of a key or value that is empty or too long. */
export function checkText(text: string | undefined, at: readonly (string | number)[]): FieldProblem[] {
  const field = String(at.at(-1));
  const bytes = Buffer.byteLength(text ?? '');
  return [
    ...invalidRateLimit(!text && `${field} must not be empty`, at),
    ...invalidRateLimit(
      bytes > MAX_TEXT_BYTES && `${field} has ${bytes} bytes: at most ${MAX_TEXT_BYTES} are allowed`,
      at,
    ),
  ];
}
