import { parseDuration } from '../syntax/duration.ts';
import type { Retries } from '../schema/route/retries.ts';
import { compileResetHeaders, type HeaderReader } from './retry-after.ts';

/** A compiled retry policy. */
export interface RetryPolicy {
  /** The block that it was compiled from. */
  readonly source: Retries;
  /** Attempts after the first one. */
  readonly numRetries: number;
  /** Timeout of one attempt, in milliseconds; `undefined` means only that of the request. */
  readonly perTryTimeoutMs: number | undefined;
  /** Retries after which another priority is tried; `undefined` if priorities stay as they are. */
  readonly priorityEvery: number | undefined;
  /** The conditions of `retryOn`, e.g. `connect-failure`. */
  readonly conditions: ReadonlySet<string>;
  /** Statuses to retry by `retriable-status-codes` or `retriable-4xx`. */
  namesStatus(status: number): boolean;
  /** Returns true for a status that any condition retries. */
  onStatus(status: number): boolean;
  /** Returns true for a response that any condition retries, by its status or its headers. */
  onResponse(status: number, header: HeaderReader): boolean;
  /**
   * Returns true for a request that got no response. `connected` is false if the upstream cannot have received it; `refused` is true if
   * it refused the stream over HTTP/2.
   */
  onReset(connected: boolean, refused?: boolean): boolean;
  /** Returns the milliseconds before a retry, the first being 1: a random part of an interval that doubles. */
  delayMs(retry: number): number;
  /** Returns the milliseconds for which a response asks, plus up to half as much at random; `undefined` if it does not ask. */
  requestedDelayMs(header: HeaderReader): number | undefined;
}

const DEFAULT_BASE_MS = 25;

/** Conditions on the status of a gRPC response, which it sends in its head if it has no message. */
const GRPC_STATUSES: ReadonlyMap<string, string> = new Map([
  ['1', 'cancelled'],
  ['4', 'deadline-exceeded'],
  ['8', 'resource-exhausted'],
  ['13', 'internal'],
  ['14', 'unavailable'],
]);

/** Every condition of `retryOn`. */
export const RETRY_CONDITIONS: ReadonlySet<string> = new Set([
  '5xx',
  'gateway-error',
  'reset',
  'connect-failure',
  'envoy-ratelimited',
  'retriable-4xx',
  'refused-stream',
  'retriable-status-codes',
  'retriable-headers',
  'reset-before-request',
  'http3-post-connect-failure',
  ...GRPC_STATUSES.values(),
]);

/**
 * Compiles a retry policy. Unknown conditions have no effect. `retriableHeaders` are names of response headers, in lower
 * case, for the condition `retriable-headers`.
 *
 * @example
 * const policy = compileRetries({ retryOn: '5xx,connect-failure', numRetries: 2 });
 * policy.onStatus(503); // true
 */
export function compileRetries(source: Retries, retriableHeaders: readonly string[] = []): RetryPolicy {
  const { retryOn, numRetries, perTryTimeout, retriableStatusCodes, retryBackOff, previousPriorities } = source;
  const conditions = new Set((retryOn ?? '').split(',').map((condition) => condition.trim()));
  const statuses = new Set(conditions.has('retriable-status-codes') ? retriableStatusCodes : []);
  const names = conditions.has('retriable-headers') ? retriableHeaders : [];
  const { baseInterval, maxInterval } = retryBackOff ?? {};
  const baseMs = baseInterval === undefined ? DEFAULT_BASE_MS : parseDuration(baseInterval);
  const maxMs = maxInterval === undefined ? 10 * baseMs : parseDuration(maxInterval);
  const perTryMs = perTryTimeout === undefined ? 0 : parseDuration(perTryTimeout);
  const anyFailure = conditions.has('5xx') || conditions.has('gateway-error') || conditions.has('reset');
  const beforeSent = anyFailure || conditions.has('connect-failure') || conditions.has('reset-before-request');
  const grpc = [...GRPC_STATUSES.values()].some((condition) => conditions.has(condition));
  const namesStatus = (status: number): boolean =>
    statuses.has(status) || (status === 409 && conditions.has('retriable-4xx'));
  const onStatus = (status: number): boolean => namesStatus(status) || isServerError(status, conditions);
  return {
    source,
    numRetries: numRetries || 1,
    perTryTimeoutMs: perTryMs > 0 ? perTryMs : undefined,
    priorityEvery: previousPriorities && (previousPriorities.updateFrequency || 1),
    conditions,
    namesStatus,
    onStatus,
    onResponse(status, header) {
      // Another proxy has rejected the request because of a limit: trying again would only add to the load.
      if (header('x-envoy-ratelimited') !== undefined) return conditions.has('envoy-ratelimited');
      if (onStatus(status) || names.some((name) => header(name) !== undefined)) return true;
      return grpc && conditions.has(GRPC_STATUSES.get(header('grpc-status') ?? '') ?? 'none');
    },
    onReset(connected, refused = false) {
      if (refused && conditions.has('refused-stream')) return true;
      return connected ? anyFailure : beforeSent;
    },
    delayMs: (retry) => Math.random() * Math.min(baseMs * 2 ** Math.min(retry - 1, 30), maxMs),
    requestedDelayMs: compileResetHeaders(source.rateLimitedRetryBackOff),
  };
}

function isServerError(status: number, conditions: ReadonlySet<string>): boolean {
  return (
    (status >= 500 && conditions.has('5xx')) || (status >= 502 && status <= 504 && conditions.has('gateway-error'))
  );
}
