import { parseDuration } from '../syntax/duration.ts';
import type { Retries } from '../schema/route/retries.ts';

/** A compiled retry policy. */
export interface RetryPolicy {
  /** Attempts after the first one. */
  readonly numRetries: number;
  /** Timeout of one attempt, in milliseconds; `undefined` means only that of the request. */
  readonly perTryTimeoutMs: number | undefined;
  /** The conditions of `retryOn`, e.g. `connect-failure`. */
  readonly conditions: ReadonlySet<string>;
  /** Statuses to retry by `retriable-status-codes` or `retriable-4xx`. */
  namesStatus(status: number): boolean;
  /** Returns true for a status that any condition retries. */
  onStatus(status: number): boolean;
  /** Returns the milliseconds before a retry, the first being 1: a random part of an interval that doubles. */
  delayMs(retry: number): number;
}

const DEFAULT_BASE_MS = 25;

/**
 * Compiles a retry policy. Unknown conditions have no effect.
 *
 * @example
 * const policy = compileRetries({ retryOn: '5xx,connect-failure', numRetries: 2 });
 * policy.onStatus(503); // true
 */
export function compileRetries({ retryOn, numRetries, perTryTimeout, ...rest }: Retries): RetryPolicy {
  const conditions = new Set((retryOn ?? '').split(',').map((condition) => condition.trim()));
  const statuses = new Set(conditions.has('retriable-status-codes') ? rest.retriableStatusCodes : []);
  const { baseInterval, maxInterval } = rest.retryBackOff ?? {};
  const baseMs = baseInterval === undefined ? DEFAULT_BASE_MS : parseDuration(baseInterval);
  const maxMs = maxInterval === undefined ? 10 * baseMs : parseDuration(maxInterval);
  const perTryMs = perTryTimeout === undefined ? 0 : parseDuration(perTryTimeout);
  const namesStatus = (status: number): boolean =>
    statuses.has(status) || (status === 409 && conditions.has('retriable-4xx'));
  return {
    numRetries: numRetries || 1,
    perTryTimeoutMs: perTryMs > 0 ? perTryMs : undefined,
    conditions,
    namesStatus,
    onStatus: (status) => namesStatus(status) || isServerError(status, conditions),
    delayMs: (retry) => Math.random() * Math.min(baseMs * 2 ** Math.min(retry - 1, 30), maxMs),
  };
}

function isServerError(status: number, conditions: ReadonlySet<string>): boolean {
  return (
    (status >= 500 && conditions.has('5xx')) || (status >= 502 && status <= 504 && conditions.has('gateway-error'))
  );
}
