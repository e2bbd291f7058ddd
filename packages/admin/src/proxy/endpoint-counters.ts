import type { Endpoint as UpstreamEndpoint, SnapshotUpstream } from '@edge-gateway/core';
import type { EndpointCounters, ProxyAdminOptions } from './options.ts';

/** Name in `/clusters` → names of the cluster's statistics that add up to it. */
const CLUSTER_STATS: Readonly<Record<string, readonly string[]>> = {
  cx_active: ['upstream_cx_active'],
  cx_connect_fail: ['upstream_cx_connect_fail'],
  cx_total: ['upstream_cx_total'],
  rq_active: ['upstream_rq_active'],
  rq_error: ['upstream_rq_5xx'],
  rq_pending_active: ['upstream_rq_pending_active'],
  rq_success: ['upstream_rq_1xx', 'upstream_rq_2xx', 'upstream_rq_3xx', 'upstream_rq_4xx'],
  rq_timeout: ['upstream_rq_timeout'],
  rq_total: ['upstream_rq_total'],
};

/** Returns the counters of one endpoint of a cluster. */
export type CounterLookup = (upstream: SnapshotUpstream, endpoint: UpstreamEndpoint) => EndpointCounters;

/** Counters at this moment: an endpoint's own, else those of its cluster when it is the only endpoint, else none. */
export function counterLookup({ context, endpointCounters }: ProxyAdminOptions): CounterLookup {
  const values = new Map<string, number>();
  for (const { name, type, stat } of context.metrics.list())
    if (type !== 'histogram') values.set(name.path, stat.value);
  return (upstream, endpoint) => {
    const own = endpointCounters?.(upstream.name, endpoint);
    if (own || upstream.endpoints.length !== 1) return own ?? {};
    const value = (stat: string): number => values.get(`cluster.${upstream.name}.${stat}`) ?? 0;
    return Object.fromEntries(
      Object.entries(CLUSTER_STATS).map(([key, stats]) => [key, stats.reduce((sum, stat) => sum + value(stat), 0)]),
    );
  };
}
