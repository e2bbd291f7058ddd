import type { Counter, Gauge, Histogram, Metrics, StatName } from '@edge-gateway/core';

/** The statistics of one cluster (reference: security-graphql 7.4). Asking again for the same cluster gives the same numbers. */
export interface ClusterStats {
  readonly rqTotal: Counter;
  readonly rqActive: Gauge;
  readonly rqCompleted: Counter;
  readonly rqTime: Histogram;
  readonly rqTimeout: Counter;
  readonly rqRetry: Counter;
  readonly rqCancelled: Counter;
  readonly rqPendingTotal: Counter;
  readonly rqPendingActive: Gauge;
  readonly rqPendingOverflow: Counter;
  readonly cxTotal: Counter;
  readonly cxHttp1Total: Counter;
  readonly cxActive: Gauge;
  readonly cxConnectFail: Counter;
  readonly cxDestroy: Counter;
  readonly cxRxBytes: Counter;
  readonly cxTxBytes: Counter;
  readonly membershipTotal: Gauge;
  readonly membershipHealthy: Gauge;
  /** Counts one answered request, under its status and the class of it. */
  answered(status: number): void;
  /** Takes them out of the metrics. They go on counting for the exchanges that still run, unseen. */
  forget(): void;
}

const LABEL = 'envoy_cluster_name';

/** The statistics of a cluster in `metrics`. */
export function createClusterStats(metrics: Metrics, cluster: string): ClusterStats {
  const prefix = `cluster.${cluster}.`;
  let forgotten = false;
  const labels = { [LABEL]: cluster };
  const named = (name: string): StatName => ({ path: prefix + name, metric: `envoy_cluster_${name}`, labels });
  const counter = (name: string): Counter => metrics.counter(named(name));
  const gauge = (name: string): Gauge => metrics.gauge(named(name));
  return {
    rqTotal: counter('upstream_rq_total'),
    rqActive: gauge('upstream_rq_active'),
    rqCompleted: counter('upstream_rq_completed'),
    rqTime: metrics.histogram(named('upstream_rq_time')),
    rqTimeout: counter('upstream_rq_timeout'),
    rqRetry: counter('upstream_rq_retry'),
    rqCancelled: counter('upstream_rq_cancelled'),
    rqPendingTotal: counter('upstream_rq_pending_total'),
    rqPendingActive: gauge('upstream_rq_pending_active'),
    rqPendingOverflow: counter('upstream_rq_pending_overflow'),
    cxTotal: counter('upstream_cx_total'),
    cxHttp1Total: counter('upstream_cx_http1_total'),
    cxActive: gauge('upstream_cx_active'),
    cxConnectFail: counter('upstream_cx_connect_fail'),
    cxDestroy: counter('upstream_cx_destroy'),
    cxRxBytes: counter('upstream_cx_rx_bytes_total'),
    cxTxBytes: counter('upstream_cx_tx_bytes_total'),
    membershipTotal: gauge('membership_total'),
    membershipHealthy: gauge('membership_healthy'),
    answered: createStatusCounters((name) => (forgotten ? { value: 0 } : metrics.counter(name)), prefix, labels),
    forget() {
      forgotten = true;
      metrics.remove(prefix);
    },
  };
}

function createStatusCounters(
  counter: (name: StatName) => Counter,
  prefix: string,
  labels: Readonly<Record<string, string>>,
): (status: number) => void {
  const codes = new Map<number, Counter>();
  const classes: Counter[] = [];
  return (status) => {
    const digit = Math.floor(status / 100);
    let code = codes.get(status);
    if (!code) {
      const codeLabels = { ...labels, envoy_response_code: String(status) };
      code = counter({
        path: `${prefix}upstream_rq_${status}`,
        metric: 'envoy_cluster_upstream_rq',
        labels: codeLabels,
      });
      codes.set(status, code);
      classes[digit] ??= counter({
        path: `${prefix}upstream_rq_${digit}xx`,
        metric: 'envoy_cluster_upstream_rq_xx',
        labels: { ...labels, envoy_response_code_class: String(digit) },
      });
    }
    code.value++;
    classes[digit]!.value++;
  };
}
