import { httpStat, type Counter, type Gauge, type Histogram, type Metrics } from '@edge-gateway/core';

/** Counts of responses. */
export interface AnswerStats {
  readonly completed: Counter;
  /** By first digit of the status, from 1. */
  readonly classes: readonly Counter[];
}

/** What the router counts of all requests (reference: security-graphql 7.4). */
export interface HttpStats extends AnswerStats {
  readonly total: Counter;
  readonly active: Gauge;
  readonly time: Histogram;
  readonly routed: Counter;
  readonly noRoute: Counter;
  readonly noCluster: Counter;
  readonly redirect: Counter;
  readonly resetBeforeEnd: Counter;
}

/** The statistics of HTTP managers; asking again gives the same numbers. */
export function createHttpStats(metrics: Metrics): HttpStats {
  const labels = { envoy_http_conn_manager_prefix: 'http' };
  const classes = [1, 2, 3, 4, 5].map((digit) =>
    metrics.counter({
      path: `http.http.downstream_rq_${digit}xx`,
      metric: 'envoy_http_downstream_rq_xx',
      labels: { ...labels, envoy_response_code_class: String(digit) },
    }),
  );
  return {
    total: metrics.counter(httpStat('downstream_rq_total')),
    active: metrics.gauge(httpStat('downstream_rq_active')),
    completed: metrics.counter(httpStat('downstream_rq_completed')),
    classes,
    time: metrics.histogram(httpStat('downstream_rq_time')),
    routed: metrics.counter(httpStat('rq_total')),
    noRoute: metrics.counter(httpStat('no_route')),
    noCluster: metrics.counter(httpStat('no_cluster')),
    redirect: metrics.counter(httpStat('rq_redirect')),
    resetBeforeEnd: metrics.counter(httpStat('downstream_rq_rx_reset')),
  };
}

/** What a listener counts of its responses; asking again for the same address gives the same numbers. */
export function createAnswerStats(metrics: Metrics, label: string): AnswerStats {
  const labels = { envoy_listener_address: label, envoy_http_conn_manager_prefix: 'http' };
  const path = `listener.${label}.http.http.downstream_rq_`;
  const metric = 'envoy_listener_http_downstream_rq_';
  const completed = metrics.counter({ path: `${path}completed`, metric: `${metric}completed`, labels });
  const classes = [1, 2, 3, 4, 5].map((digit) =>
    metrics.counter({
      path: `${path}${digit}xx`,
      metric: `${metric}xx`,
      labels: { ...labels, envoy_response_code_class: String(digit) },
    }),
  );
  return { completed, classes };
}

/** Counts a request that is over; a status of 0 was never sent. */
export function countAnswer(stats: AnswerStats, status: number): void {
  stats.completed.value++;
  countStatus(stats, status);
}

/** Counts the status alone. */
export function countStatus({ classes }: AnswerStats, status: number): void {
  const counted = classes[Math.floor(status / 100) - 1];
  if (counted) counted.value++;
}
