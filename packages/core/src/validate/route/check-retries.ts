import { isHeaderName } from '../../http/reserved-headers.ts';
import { parseDuration } from '../../syntax/duration.ts';
import type { Retries } from '../../schema/route/retries.ts';
import { RETRY_CONDITIONS } from '../../upstream/retry-policy.ts';
import { reporterOf, type Check } from '../check.ts';

const invalid = reporterOf('INVALID_RETRIES');

/** Returns problems of a retry policy: unknown conditions, contradictory backoff. */
export const checkRetries: Check<Retries> = ({ retryOn = '', retryBackOff, rateLimitedRetryBackOff: limited }, at) => {
  const conditions = retryOn.split(',').map((condition) => condition.trim());
  const unknown = conditions.filter((condition) => condition !== '' && !RETRY_CONDITIONS.has(condition));
  return [
    ...unknown.flatMap((condition) =>
      invalid(`unknown retry condition '${condition}'`, [...at, 'retryOn'], {
        hint: [...RETRY_CONDITIONS].join(', '),
      }),
    ),
    ...invalid(retryBackOff && backOffProblem(retryBackOff), [...at, 'retryBackOff']),
    ...invalid(limited && limitedProblem(limited), [...at, 'rateLimitedRetryBackOff']),
  ];
};

function backOffProblem({ baseInterval, maxInterval }: NonNullable<Retries['retryBackOff']>): string | undefined {
  if (baseInterval === undefined) return maxInterval === undefined ? undefined : 'maxInterval needs baseInterval';
  const base = parseDuration(baseInterval);
  const max = maxInterval === undefined ? undefined : parseDuration(maxInterval);
  if (base <= 0 || (max !== undefined && max <= 0)) return 'the intervals must be greater than 0';
  return max !== undefined && base > max ? 'baseInterval must not be greater than maxInterval' : undefined;
}

function limitedProblem({
  resetHeaders = [],
  maxInterval,
}: NonNullable<Retries['rateLimitedRetryBackOff']>): string | undefined {
  if (resetHeaders.length === 0) return 'rateLimitedRetryBackOff needs resetHeaders';
  const invalidName = resetHeaders.find(({ name = '' }) => !isHeaderName(name));
  if (invalidName) return `invalid header name '${invalidName.name ?? ''}' in resetHeaders`;
  return maxInterval !== undefined && parseDuration(maxInterval) <= 0
    ? 'maxInterval must be greater than 0'
    : undefined;
}
