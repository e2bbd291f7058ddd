import { parseDuration } from '../../syntax/duration.ts';
import type { Retries } from '../../schema/route/retries.ts';
import { reporterOf, type Check } from '../check.ts';

const CONDITIONS = new Set(
  `5xx gateway-error reset connect-failure envoy-ratelimited retriable-4xx refused-stream retriable-status-codes
  retriable-headers reset-before-request http3-post-connect-failure cancelled deadline-exceeded internal
  resource-exhausted unavailable`.split(/\s+/),
);

const invalid = reporterOf('INVALID_RETRIES');

/** Returns problems of a retry policy: unknown conditions, contradictory backoff. */
export const checkRetries: Check<Retries> = ({ retryOn = '', retryBackOff }, at) => {
  const conditions = retryOn.split(',').map((condition) => condition.trim());
  const unknown = conditions.filter((condition) => condition !== '' && !CONDITIONS.has(condition));
  return [
    ...unknown.flatMap((condition) =>
      invalid(`'${condition}' is not a retry condition`, [...at, 'retryOn'], { hint: [...CONDITIONS].join(', ') }),
    ),
    ...invalid(retryBackOff && backOffProblem(retryBackOff), [...at, 'retryBackOff']),
  ];
};

function backOffProblem({ baseInterval, maxInterval }: NonNullable<Retries['retryBackOff']>): string | undefined {
  if (baseInterval === undefined) return maxInterval === undefined ? undefined : 'maxInterval needs baseInterval';
  const base = parseDuration(baseInterval);
  const max = maxInterval === undefined ? undefined : parseDuration(maxInterval);
  if (base <= 0 || (max !== undefined && max <= 0)) return 'the intervals must be greater than 0';
  return max !== undefined && base > max ? 'baseInterval must not be greater than maxInterval' : undefined;
}
