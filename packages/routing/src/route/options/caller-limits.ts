import { compileRetries, type RetryPolicy } from '@edge-gateway/core';
import { findHeader, removeWhere } from '../../http1/flat-headers.ts';
import { expectedTimeoutMs, type AttemptPolicy } from './attempts.ts';

/** A policy with the time limit that is sent upstream. */
interface TimedPolicy extends AttemptPolicy {
  readonly timeoutHeader: string;
}

/** Headers by which internal callers set limits. The upstream does not get them. */
const CONTROLS: ReadonlySet<string> = new Set([
  'x-envoy-max-retries',
  'x-envoy-retriable-header-names',
  'x-envoy-retriable-status-codes',
  'x-envoy-retry-grpc-on',
  'x-envoy-retry-on',
  'x-envoy-upstream-rq-per-try-timeout-ms',
  'x-envoy-upstream-rq-timeout-ms',
]);
const DIGITS = /^\d{1,9}$/;

/**
 * Returns the policy of a route for one request: an internal caller, marked by `x-envoy-internal`, can add conditions to those of the
 * route and replace its limits. Removes its headers from the list.
 */
export function limitsForCaller<P extends TimedPolicy>(policy: P, headers: string[], sendsTimeout: boolean): P {
  if (findHeader(headers, 'x-envoy-internal') !== 'true') return policy;
  if (!headers.some((name, i) => i % 2 === 0 && CONTROLS.has(name))) return policy;
  const number = (name: string): number | undefined => {
    const value = findHeader(headers, name) ?? '';
    return DIGITS.test(value) ? Number(value) : undefined;
  };
  const timeoutMs = number('x-envoy-upstream-rq-timeout-ms') ?? policy.timeoutMs;
  const retries = retriesForCaller(policy.retries, headers, number);
  removeWhere(headers, (name) => CONTROLS.has(name));
  const changed = { ...policy, timeoutMs, retries };
  const expectedMs = expectedTimeoutMs(changed, 0);
  return { ...changed, timeoutHeader: expectedMs > 0 && sendsTimeout ? String(expectedMs) : '' };
}

function retriesForCaller(
  policy: RetryPolicy | undefined,
  headers: readonly string[],
  number: (name: string) => number | undefined,
): RetryPolicy | undefined {
  const list = (name: string): string[] => (findHeader(headers, name) ?? '').split(',').map((each) => each.trim());
  const { source = {} } = policy ?? {};
  const retryOn = [source.retryOn ?? '', ...list('x-envoy-retry-on'), ...list('x-envoy-retry-grpc-on')]
    .filter((condition) => condition !== '')
    .join(',');
  const perTryMs = number('x-envoy-upstream-rq-per-try-timeout-ms');
  if (retryOn === '' && perTryMs === undefined) return policy;
  const statuses = list('x-envoy-retriable-status-codes').filter((status) => DIGITS.test(status));
  const names = list('x-envoy-retriable-header-names').filter((name) => name !== '');
  const compiled = compileRetries(
    {
      ...source,
      retryOn,
      retriableStatusCodes: [...(source.retriableStatusCodes ?? []), ...statuses.map(Number)],
      ...(perTryMs !== undefined && { perTryTimeout: `${perTryMs}ms` }),
    },
    names.map((name) => name.toLowerCase()),
  );
  return { ...compiled, numRetries: number('x-envoy-max-retries') ?? compiled.numRetries };
}
