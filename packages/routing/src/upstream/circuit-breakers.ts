import { DEFAULTS, type Metrics, type SnapshotUpstream } from '@edge-gateway/core';
import { ConnectionLimit } from './connection-limit.ts';
import type { ClusterStats } from './stats.ts';

/**
 * The limits of one upstream. Those of connections and waiting requests are applied by the pools, see `connectionSettings`;
 * requests and retries are counted here. The counters are the statistics, so that a plain request pays one comparison.
 */
export class CircuitBreakers {
  readonly maxConnections: number;
  readonly connections: ConnectionLimit;
  readonly maxPending: number;
  readonly maxRequests: number;
  readonly maxRetries: number;
  readonly #stats: ClusterStats;
  #retries = 0;

  constructor(
    { name, spec: { circuitBreakers: written = {} } }: SnapshotUpstream,
    stats: ClusterStats,
    metrics: Metrics,
  ) {
    // One connection is always allowed, as in Envoy: with none, all requests would wait forever.
    this.maxConnections = Math.max(written.maxConnections ?? DEFAULTS.maxConnections, 1);
    this.connections = new ConnectionLimit(this.maxConnections, stats.cxOverflow);
    this.maxPending = written.maxPendingRequests ?? DEFAULTS.maxPendingRequests;
    this.maxRequests = written.maxRequests ?? DEFAULTS.maxRequests;
    this.maxRetries = written.maxRetries ?? DEFAULTS.maxRetries;
    this.#stats = stats;
    this.#publish(name, metrics, written.trackRemaining === true);
  }

  /** Returns false if too many requests are active. The caller is counted already; waiting requests are not active. */
  allowsRequest(): boolean {
    return this.#requests <= this.maxRequests;
  }

  /** Reserves a retry until {@link endRetry}. Returns false, and counts it, if too many are active. */
  beginRetry(): boolean {
    if (this.#retries >= this.maxRetries) {
      this.#stats.rqRetryOverflow.value++;
      return false;
    }
    this.#retries++;
    this.#stats.rqRetry.value++;
    return true;
  }

  endRetry(): void {
    this.#retries--;
  }

  get #requests(): number {
    return this.#stats.rqActive.value - this.#stats.rqPendingActive.value;
  }

  #publish(cluster: string, metrics: Metrics, remaining: boolean): void {
    const { rqPendingActive } = this.#stats;
    const limits: Readonly<Record<string, readonly [left: string, max: number, used: () => number]>> = {
      cx_open: ['remaining_cx', this.maxConnections, () => this.connections.open],
      rq_pending_open: ['remaining_pending', this.maxPending, () => rqPendingActive.value],
      rq_open: ['remaining_rq', this.maxRequests, () => this.#requests],
      rq_retry_open: ['remaining_retries', this.maxRetries, () => this.#retries],
    };
    const gauge = (name: string, read: () => number): void =>
      metrics.computed(
        {
          path: `cluster.${cluster}.circuit_breakers.default.${name}`,
          metric: `envoy_cluster_circuit_breakers_default_${name}`,
          labels: { envoy_cluster_name: cluster },
        },
        read,
      );
    for (const [open, [left, max, used]] of Object.entries(limits)) {
      gauge(open, () => (used() >= max ? 1 : 0));
      if (remaining) gauge(left, () => Math.max(max - used(), 0));
    }
  }
}
