import type { RateLimitServer } from '../../schema/route/rate-limit.ts';
import { parseDuration } from '../../syntax/duration.ts';
import type { Check } from '../check.ts';
import { invalidRateLimit } from './limits.ts';

const MAX_TIMEOUT_MS = 3_600_000;

/** Returns problems of the settings of rate limiting. */
export const checkRateLimitServer: Check<RateLimitServer> = ({ ratelimitServerRef, requestTimeout }, at) => {
  const ms = requestTimeout === undefined ? 1 : parseDuration(requestTimeout);
  return [
    ...invalidRateLimit(
      (ms <= 0 || ms > MAX_TIMEOUT_MS) &&
        `invalid requestTimeout ${requestTimeout}: it must be greater than 0s and at most 1h`,
      [...at, 'requestTimeout'],
    ),
    ...invalidRateLimit(ratelimitServerRef && !ratelimitServerRef.name && 'ratelimitServerRef needs a name', [
      ...at,
      'ratelimitServerRef',
    ]),
  ];
};
