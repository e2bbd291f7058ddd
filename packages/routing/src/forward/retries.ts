import type { RetryPolicy } from '@edge-gateway/core';
import type { Cluster } from '../upstream/cluster.ts';
import { failureOf, type FailureReason } from '../upstream/failure.ts';
import type { Host } from '../upstream/hosts/host.ts';
import type { PickContext } from '../upstream/hosts/pick-context.ts';

/** The retries of one request: as its policy says, within the retry limit of the upstream, at another endpoint if there is one. */
export class Retries {
  readonly policy: RetryPolicy;
  /** Response flag of a request that could not be retried. */
  flag = '';
  readonly #cluster: Cluster;
  readonly #tried = new Set<Host>();
  readonly #triedPriorities = new Set<number>();
  #left: number;
  /** Holds one of the retries that the upstream allows. */
  #reserved = false;

  constructor(cluster: Cluster, policy: RetryPolicy) {
    this.#cluster = cluster;
    this.policy = policy;
    this.#left = policy.numRetries;
  }

  /** Returns true for the failure of an attempt that the policy retries. */
  appliesTo({ reset }: FailureReason): boolean {
    if (reset === undefined || reset === 'overflow') return false;
    const connected = reset !== 'remote connection failure' && reset !== 'connection timeout';
    return this.policy.onReset(connected, reset === 'remote refused stream reset');
  }

  /** Reserves a retry. If none is left, `flag` is the reason. */
  reserve(): boolean {
    const { stats, breakers } = this.#cluster;
    if (this.#left === 0) {
      stats.rqRetryLimitExceeded.value++;
      this.flag = 'URX';
      return false;
    }
    this.#left--;
    this.#reserved = breakers.beginRetry();
    if (!this.#reserved) this.flag = 'UO';
    return this.#reserved;
  }

  /** Ends the attempt for which a retry was reserved. */
  release(): void {
    if (this.#reserved) this.#cluster.breakers.endRetry();
    this.#reserved = false;
  }

  /** Returns the milliseconds to wait after an attempt; `requestedMs` is what its response asked for. */
  delayMs(host: Host, attempt: number, requestedMs: number | undefined): number {
    const { stats } = this.#cluster;
    if (requestedMs === undefined) stats.rqRetryBackoffExponential.value++;
    else stats.rqRetryBackoffRatelimited.value++;
    this.#tried.add(host);
    return requestedMs ?? this.policy.delayMs(attempt);
  }

  /** Picks the host of an attempt. */
  pick(context: PickContext | undefined, attempt: number): Host | undefined {
    return this.#cluster.pick({
      ...context,
      excluded: this.#tried,
      excludedPriorities: this.#priorities(attempt - 1),
      attempt,
    });
  }

  /** Returns the limit of one attempt in milliseconds; 0 if there is none. */
  tryTimeoutMs(timeoutMs: number): number {
    const { perTryTimeoutMs = 0 } = this.policy;
    // One that is not shorter than the limit of the request has no effect, as in Envoy.
    return timeoutMs > 0 && perTryTimeoutMs >= timeoutMs ? 0 : perTryTimeoutMs;
  }

  /** Returns the priorities that were tried, as of the last attempt after which they are compared. */
  #priorities(attempts: number): ReadonlySet<number> | undefined {
    const { priorityEvery } = this.policy;
    if (priorityEvery === undefined) return undefined;
    if (attempts % priorityEvery === 0) for (const { priority } of this.#tried) this.#triedPriorities.add(priority);
    return this.#triedPriorities;
  }
}

/** The failure of an attempt that took too long. */
export function tryTimeout(limitMs: number): FailureReason {
  return {
    failure: failureOf('ERR_ROUTING_UPSTREAM_TIMEOUT'),
    flags: 'UT',
    details: 'upstream_per_try_timeout',
    reset: 'local reset',
    cause: `no response in ${limitMs} ms`,
  };
}
