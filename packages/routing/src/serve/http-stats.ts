import { httpStat, type Counter, type Gauge, type Histogram, type Metrics, type StatName } from '@edge-gateway/core';
import { statsOf } from '../upstream/stats.ts';

export interface ResponseStats {
  readonly completed: Counter;
  /** By first digit of the status, from 1. */
  readonly classes: readonly Counter[];
}

const COUNTERS = {
  total: 'downstream_rq_total',
  routed: 'rq_total',
  noRoute: 'no_route',
  noCluster: 'no_cluster',
  redirect: 'rq_redirect',
  resetBeforeEnd: 'downstream_rq_rx_reset',
  upgrades: 'downstream_cx_upgrades_total',
} as const;

/** Statistics of all requests (reference: security-graphql 7.4). */
export interface HttpStats extends ResponseStats, Readonly<Record<keyof typeof COUNTERS, Counter>> {
  readonly active: Gauge;
  readonly upgradesActive: Gauge;
  readonly time: Histogram;
}

/** Returns the statistics of HTTP managers; each call returns the same numbers. */
export function createHttpStats(metrics: Metrics): HttpStats {
  return {
    ...statsOf(COUNTERS, (name) => metrics.counter(httpStat(name))),
    ...responseStats(metrics, httpStat('downstream_rq_')),
    active: metrics.gauge(httpStat('downstream_rq_active')),
    upgradesActive: metrics.gauge(httpStat('downstream_cx_upgrades_active')),
    time: metrics.histogram(httpStat('downstream_rq_time')),
  };
}

/** `0.0.0.0_8080`, `[__]_8080`: colons are not allowed in the paths of statistics. */
export const listenerLabel = (address: string, port: number): string =>
  `${address.includes(':') ? `[${address}]` : address}_${port}`.replaceAll(':', '_');

/** Returns the response statistics of a listener; each call for the same address returns the same numbers. */
export function createResponseStats(metrics: Metrics, address: string, port: number): ResponseStats {
  const label = listenerLabel(address, port);
  return responseStats(metrics, {
    path: `listener.${label}.http.http.downstream_rq_`,
    metric: 'envoy_listener_http_downstream_rq_',
    labels: { envoy_listener_address: label, envoy_http_conn_manager_prefix: 'http' },
  });
}

/** Returns the response statistics of these names. */
export function responseStats(metrics: Metrics, { path, metric, labels }: StatName): ResponseStats {
  const ofClass = (digit: number): StatName => ({
    path: `${path}${digit}xx`,
    metric: `${metric}xx`,
    labels: { ...labels, envoy_response_code_class: String(digit) },
  });
  return {
    completed: metrics.counter({ path: `${path}completed`, metric: `${metric}completed`, labels }),
    classes: [1, 2, 3, 4, 5].map((digit) => metrics.counter(ofClass(digit))),
  };
}

/** Counts a finished request; a status of 0 was never sent. */
export function countResponse(stats: ResponseStats, status: number): void {
  stats.completed.value++;
  countStatus(stats, status);
}

export function countStatus({ classes }: ResponseStats, status: number): void {
  const counted = classes[Math.floor(status / 100) - 1];
  if (counted) counted.value++;
}
