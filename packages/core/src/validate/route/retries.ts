import { parseDuration } from '../../syntax/duration.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { Retries } from '../../schema/route/retries.ts';

const CONDITIONS = new Set(
  `5xx gateway-error reset connect-failure envoy-ratelimited retriable-4xx refused-stream retriable-status-codes
  retriable-headers reset-before-request http3-post-connect-failure cancelled deadline-exceeded internal
  resource-exhausted unavailable`.split(/\s+/),
);

/** Returns problems of a retry policy: unknown conditions, contradictory backoff. */
export function checkRetries({ retryOn, retryBackOff }: Retries, at: FieldPath): FieldProblem[] {
  const findings: FieldProblem[] = [];
  const conditions = (retryOn ?? '').split(',').map((condition) => condition.trim());
  for (const condition of conditions) {
    if (condition === '' || CONDITIONS.has(condition)) continue;
    const message = `'${condition}' is not a retry condition`;
    findings.push({ code: 'INVALID_RETRIES', path: [...at, 'retryOn'], message, hint: [...CONDITIONS].join(', ') });
  }
  const message = retryBackOff && backOffProblem(retryBackOff);
  if (message) findings.push({ code: 'INVALID_RETRIES', path: [...at, 'retryBackOff'], message });
  return findings;
}

function backOffProblem({ baseInterval, maxInterval }: NonNullable<Retries['retryBackOff']>): string | undefined {
  if (baseInterval === undefined) return maxInterval === undefined ? undefined : 'maxInterval needs baseInterval';
  const base = parseDuration(baseInterval);
  const max = maxInterval === undefined ? undefined : parseDuration(maxInterval);
  if (base <= 0 || (max !== undefined && max <= 0)) return 'the intervals must be greater than 0';
  return max !== undefined && base > max ? 'baseInterval must not be greater than maxInterval' : undefined;
}
