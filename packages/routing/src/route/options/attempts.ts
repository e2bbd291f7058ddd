import { compileRetries, type RetryPolicy, type VirtualHost } from '@edge-gateway/core';
import type { Retries } from '@edge-gateway/core/schema';
import type { OptionLevels } from '../compile/chain.ts';

/** How often and how long a request of a route may be sent. */
export interface AttemptPolicy {
  /** Limit of the whole request in milliseconds; 0 is no limit. */
  readonly timeoutMs: number;
  readonly retries: RetryPolicy | undefined;
  /** The upstream gets the number of the attempt. */
  readonly countForUpstream: boolean;
  /** The client gets the number of attempts. */
  readonly countForClient: boolean;
}

export const ATTEMPT_COUNT = 'x-envoy-attempt-count';

/** Compiles `retries` of the most specific level, and the settings of the virtual host for the number of attempts. */
export function compileAttempts(levels: OptionLevels, timeoutMs: number): AttemptPolicy {
  const host = levels.at(-1) as VirtualHost['options'] | undefined;
  return {
    timeoutMs,
    retries: compileRoutePolicy(levels),
    countForUpstream: host?.includeRequestAttemptCount === true,
    countForClient: host?.includeAttemptCountInResponse === true,
  };
}

/** Compiles `retries` of the most specific level; `undefined` if no level has it. */
export function compileRoutePolicy(levels: OptionLevels): RetryPolicy | undefined {
  const block = levels.find((level) => level?.['retries'] !== undefined)?.['retries'];
  return block === undefined ? undefined : compileRetries(block as Retries);
}

/**
 * Returns the value of `x-envoy-expected-rq-timeout-ms`: the limit of one attempt, or what is left of the limit of the request if
 * that is less. 0 if there is no limit; never 0 for a limit that is over, because upstreams read that as no limit.
 */
export function expectedTimeoutMs({ timeoutMs, retries }: AttemptPolicy, elapsedMs: number): number {
  const { perTryTimeoutMs = timeoutMs } = retries ?? {};
  if (timeoutMs === 0) return perTryTimeoutMs;
  return Math.max(Math.min(perTryTimeoutMs, Math.floor(timeoutMs - elapsedMs)), 1);
}
