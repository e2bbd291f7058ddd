import type { Counter, Gauge, Histogram, Metrics, StatName } from '@edge-gateway/core';

const COUNTERS = {
  updateSuccess: 'update_success',
  updateFailure: 'update_failure',
  rqTotal: 'upstream_rq_total',
  rqCompleted: 'upstream_rq_completed',
  rqTimeout: 'upstream_rq_timeout',
  rqPerTryTimeout: 'upstream_rq_per_try_timeout',
  rqRetry: 'upstream_rq_retry',
  rqRetrySuccess: 'upstream_rq_retry_success',
  rqRetryOverflow: 'upstream_rq_retry_overflow',
  rqRetryLimitExceeded: 'upstream_rq_retry_limit_exceeded',
  rqRetryBackoffExponential: 'upstream_rq_retry_backoff_exponential',
  rqRetryBackoffRatelimited: 'upstream_rq_retry_backoff_ratelimited',
  rqMaxDuration: 'upstream_rq_max_duration_reached',
  retryAbandoned: 'retry_or_shadow_abandoned',
  rqCancelled: 'upstream_rq_cancelled',
  rqRxReset: 'upstream_rq_rx_reset',
  rqTxReset: 'upstream_rq_tx_reset',
  rqPendingTotal: 'upstream_rq_pending_total',
  rqPendingOverflow: 'upstream_rq_pending_overflow',
  cxTotal: 'upstream_cx_total',
  cxHttp1Total: 'upstream_cx_http1_total',
  cxHttp2Total: 'upstream_cx_http2_total',
  cxCloseNotify: 'upstream_cx_close_notify',
  cxMaxRequests: 'upstream_cx_max_requests',
  cxConnectFail: 'upstream_cx_connect_fail',
  cxDestroy: 'upstream_cx_destroy',
  cxOverflow: 'upstream_cx_overflow',
  cxRxBytes: 'upstream_cx_rx_bytes_total',
  cxTxBytes: 'upstream_cx_tx_bytes_total',
} as const;

const GAUGES = {
  rqActive: 'upstream_rq_active',
  rqPendingActive: 'upstream_rq_pending_active',
  cxActive: 'upstream_cx_active',
  membershipTotal: 'membership_total',
  membershipHealthy: 'membership_healthy',
  membershipDegraded: 'membership_degraded',
  membershipExcluded: 'membership_excluded',
} as const;

export function statsOf<K extends string, S>(
  names: Readonly<Record<K, string>>,
  create: (name: string) => S,
): Readonly<Record<K, S>> {
  const entries = Object.entries<string>(names).map(([key, name]) => [key, create(name)] as const);
  return Object.fromEntries(entries) as Record<K, S>;
}

type NamedStats = Readonly<Record<keyof typeof COUNTERS, Counter> & Record<keyof typeof GAUGES, Gauge>>;

/** The statistics of one cluster (reference: security-graphql 7.4). Creating them again for the same cluster returns the same numbers. */
export interface ClusterStats extends NamedStats {
  readonly rqTime: Histogram;
  /** Counts one response, under its status and its status class. */
  responded(status: number): void;
  connected(isHttp2: boolean): void;
  disconnected(): void;
  /** Removes them from the metrics. Exchanges in progress still update them. */
  forget(): void;
}

export function createClusterStats(metrics: Metrics, cluster: string): ClusterStats {
  const prefix = `cluster.${cluster}.`;
  let forgotten = false;
  const labels = { envoy_cluster_name: cluster };
  const named = (name: string): StatName => ({ path: prefix + name, metric: `envoy_cluster_${name}`, labels });
  const stats: ClusterStats = {
    ...statsOf(COUNTERS, (name) => metrics.counter(named(name))),
    ...statsOf(GAUGES, (name) => metrics.gauge(named(name))),
    rqTime: metrics.histogram(named('upstream_rq_time')),
    responded: createStatusCounters((name) => (forgotten ? { value: 0 } : metrics.counter(name)), {
      prefix,
      metric: 'envoy_cluster_upstream_rq',
      labels,
    }),
    connected(isHttp2) {
      stats.cxTotal.value++;
      if (isHttp2) stats.cxHttp2Total.value++;
      else stats.cxHttp1Total.value++;
      stats.cxActive.value++;
    },
    disconnected() {
      stats.cxActive.value--;
      stats.cxDestroy.value++;
    },
    forget() {
      forgotten = true;
      metrics.remove(prefix);
    },
  };
  return stats;
}

/** Names of the counters of responses: path, metric in Prometheus, and labels. */
interface StatusNames {
  readonly prefix: string;
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the function that counts responses by status and by status class. */
export function createStatusCounters(
  counter: (name: StatName) => Counter,
  { prefix, metric, labels }: StatusNames,
): (status: number) => void {
  const codes = new Map<number, Counter>();
  const classes: Counter[] = [];
  const create = (text: string, name: string, label: Readonly<Record<string, string>>): Counter =>
    counter({ path: `${prefix}upstream_rq_${text}`, metric: name, labels: { ...labels, ...label } });
  return (status) => {
    const digit = Math.floor(status / 100);
    let code = codes.get(status);
    if (!code) {
      code = create(String(status), metric, { envoy_response_code: String(status) });
      codes.set(status, code);
      const label = { envoy_response_code_class: String(digit) };
      classes[digit] ??= create(`${digit}xx`, `${metric}_xx`, label);
    }
    code.value++;
    classes[digit]!.value++;
  };
}
