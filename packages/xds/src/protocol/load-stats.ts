import { AUTH_CLUSTER, LIMIT_CLUSTER, XDS_CLUSTER } from '@edge-gateway/core/envoy';
import type { ReportedRequests, ReportedUpstream, TrafficReport } from '@edge-gateway/core';
import type { NodeMessage } from './discovery.ts';
import { loadService } from './load-service.ts';

/** Load reporting, version 3: `StreamLoadStats`. */
export const LoadReporting = loadService(
  'envoy/service/load_stats/v3/lrs.proto',
  'envoy.service.load_stats.v3.LoadReportingService',
);

/** `envoy.config.endpoint.v3.EndpointLoadMetricStats`. */
interface LoadMetric {
  readonly metric_name: string;
  readonly num_requests_finished_with_metric: number;
  readonly total_metric_value: number;
}

/** `envoy.config.endpoint.v3.ClusterStats`, the fields that are used here. */
export interface ClusterStats {
  readonly cluster_name: string;
  readonly cluster_service_name: string;
  readonly upstream_locality_stats: readonly {
    readonly total_successful_requests: number;
    readonly total_error_requests: number;
    readonly total_issued_requests: number;
    readonly load_metric_stats: readonly LoadMetric[];
  }[];
  readonly load_report_interval: { readonly seconds: number; readonly nanos: number } | null;
}

/** A report of a node. */
export interface LoadStatsRequest {
  readonly node?: NodeMessage | null;
  readonly cluster_stats?: readonly ClusterStats[];
}

/** What a server wants to know, and how often. */
export interface LoadStatsResponse {
  readonly send_all_clusters: boolean;
  readonly load_reporting_interval: { readonly seconds: number; readonly nanos: number } | null;
}

/** Longest lists of a report; further entries are ignored. */
export const MAX_LISTENERS = 20;
export const MAX_UPSTREAMS = 100;
const MAX_NAME = 256;
const MAX_VALUE = 1e12;

/** Clusters of an Envoy that receive no requests of clients. */
const OWN_CLUSTERS: ReadonlySet<string> = new Set([XDS_CLUSTER, AUTH_CLUSTER, LIMIT_CLUSTER]);

/** Name of the service of entries that are not clusters. */
const LISTENER = 'edge_gateway.listener';
const TOTAL = 'edge_gateway.proxy';

/** Names of metrics beside those of the protocol. */
const METRIC = {
  clientErrors: 'client_errors',
  p50: 'latency_p50_ms',
  p99: 'latency_p99_ms',
  healthy: 'endpoints_healthy',
  unhealthy: 'endpoints_unhealthy',
} as const;

/** Encodes a report: a cluster for each upstream, and one for each listener and for the proxy, which their service name tells apart. */
export function encodeReport(
  { seconds, total, listeners, upstreams }: TrafficReport,
  proxy: string,
): readonly ClusterStats[] {
  const encode = (entry: ReportedRequests, service: string): ClusterStats => ({
    cluster_name: entry.name,
    cluster_service_name: service,
    upstream_locality_stats: [
      {
        total_successful_requests: Math.max(0, entry.requests - entry.serverErrors),
        total_error_requests: entry.serverErrors,
        total_issued_requests: entry.requests,
        load_metric_stats: (Object.keys(METRIC) as (keyof typeof METRIC)[]).flatMap((name) => {
          const value = (entry as Partial<ReportedUpstream>)[name];
          if (value === undefined) return [];
          return [{ metric_name: METRIC[name], num_requests_finished_with_metric: 1, total_metric_value: value }];
        }),
      },
    ],
    load_report_interval: { seconds: Math.floor(seconds), nanos: Math.round((seconds % 1) * 1e9) },
  });
  return [
    encode({ ...total, name: proxy }, TOTAL),
    ...listeners.slice(0, MAX_LISTENERS).map((each) => encode(each, LISTENER)),
    ...upstreams.slice(0, MAX_UPSTREAMS).map((each) => encode(each, '')),
  ];
}

/** Decodes a report of any node, also of other data planes, which report clusters only. Names, values and lists are limited. */
export function decodeReport(stats: readonly ClusterStats[]): TrafficReport | undefined {
  const [first] = stats;
  if (!first) return undefined;
  const upstreams: ReportedUpstream[] = [];
  const listeners: ReportedRequests[] = [];
  let total: ReportedRequests | undefined;
  for (const each of stats) {
    const { cluster_service_name: service } = each;
    if (service === TOTAL) total ??= requestsOf(each);
    else if (service === LISTENER) {
      if (listeners.length < MAX_LISTENERS) listeners.push(requestsOf(each));
    } else if (upstreams.length < MAX_UPSTREAMS && !OWN_CLUSTERS.has(each.cluster_name))
      upstreams.push(upstreamOf(each));
  }
  const { seconds = 0, nanos = 0 } = first.load_report_interval ?? {};
  const sum = total ?? sumOf(upstreams);
  return { seconds: Math.max(bounded(seconds) + bounded(nanos) / 1e9, 0.001), total: sum, listeners, upstreams };
}

function upstreamOf(stats: ClusterStats): ReportedUpstream {
  const healthy = metricOf(stats, METRIC.healthy) ?? 0;
  return { ...requestsOf(stats), healthy, unhealthy: metricOf(stats, METRIC.unhealthy) ?? 0 };
}

function requestsOf(stats: ClusterStats): ReportedRequests {
  const { cluster_name: name, upstream_locality_stats: localities } = stats;
  const sum = (field: 'total_issued_requests' | 'total_error_requests'): number =>
    bounded(localities.reduce((all, locality) => all + bounded(locality[field]), 0));
  const [p50, p99] = [metricOf(stats, METRIC.p50), metricOf(stats, METRIC.p99)];
  return {
    name: name.slice(0, MAX_NAME),
    requests: sum('total_issued_requests'),
    clientErrors: metricOf(stats, METRIC.clientErrors) ?? 0,
    serverErrors: sum('total_error_requests'),
    ...(p50 !== undefined && { p50 }),
    ...(p99 !== undefined && { p99 }),
  };
}

function metricOf({ upstream_locality_stats: localities }: ClusterStats, name: string): number | undefined {
  const found = localities[0]?.load_metric_stats.find((metric) => metric.metric_name === name);
  return found && bounded(found.total_metric_value);
}

function bounded(value: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(value, 0), MAX_VALUE) : 0;
}

function sumOf(upstreams: readonly ReportedUpstream[]): ReportedRequests {
  const sum = (field: 'requests' | 'clientErrors' | 'serverErrors'): number =>
    upstreams.reduce((all, each) => all + each[field], 0);
  return {
    name: '',
    requests: sum('requests'),
    clientErrors: sum('clientErrors'),
    serverErrors: sum('serverErrors'),
  };
}
