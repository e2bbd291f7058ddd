import { DEFAULTS, type Endpoint as UpstreamEndpoint, type SnapshotUpstream } from '@edge-gateway/core';
import { json } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { lazily } from '../http/json-chunks.ts';
import { renamed, type Message } from './envoy/json.ts';
import type { EndpointCounters, ProxyAdminOptions } from './options.ts';
import { addressAndPort } from './server.ts';
import { statFilter } from './stat-selection.ts';

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

/** Limits of one priority. */
const LIMITS = ['maxConnections', 'maxPendingRequests', 'maxRequests', 'maxRetries'] as const;

/** Facts of every endpoint in text: no locality, outlier detection or active health check applies. */
const FIXED_FACTS = {
  region: '',
  zone: '',
  sub_zone: '',
  canary: false,
  priority: 0,
  success_rate: -1,
  local_origin_success_rate: -1,
} as const;

/** Returns the counters of one endpoint of a cluster. */
type CounterLookup = (upstream: SnapshotUpstream, endpoint: UpstreamEndpoint) => EndpointCounters;

/** `/clusters`: every upstream with its limits and endpoints. */
export function clusters(options: ProxyAdminOptions): Endpoint {
  return {
    paths: ['/clusters'],
    help: 'upstreams and their endpoints',
    parameters: [
      { name: 'filter', help: 'only names that contain a match of this RE2 expression' },
      { name: 'format', help: 'output format', values: ['text', 'json'] },
    ],
    respond: (parameters) => {
      const matches = statFilter(parameters);
      const counters = counterLookup(options);
      const upstreams = (options.snapshot()?.upstreams ?? []).filter(({ name }) => matches(name));
      if (parameters.get('format') !== 'json') return { body: lazily(upstreams, (each) => asText(each, counters)) };
      return json({ cluster_statuses: lazily(upstreams, (each) => asJson(each, counters)) });
    },
  };
}

/** Reads the counters now: an endpoint's own, else those of its cluster if it is the only endpoint, else none. */
function counterLookup({ context, endpointCounters }: ProxyAdminOptions): CounterLookup {
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

/** Returns the limits of both priorities; only those of the default priority can be set. */
function thresholds({ spec }: SnapshotUpstream): Message[] {
  return [
    { priority: 'DEFAULT', ...renamed({ ...DEFAULTS, ...spec.circuitBreakers }, LIMITS) },
    { priority: 'HIGH', ...renamed(DEFAULTS, LIMITS) },
  ];
}

function asText(upstream: SnapshotUpstream, counters: CounterLookup): string {
  const { name, endpoints } = upstream;
  const limits = thresholds(upstream).flatMap(({ priority, ...values }) =>
    Object.entries(values).map(([key, value]) => `${String(priority).toLowerCase()}_priority::${key}::${value}`),
  );
  const hosts = endpoints.flatMap((endpoint) => {
    const { address, port, weight } = endpoint;
    const known = { ...counters(upstream, endpoint), hostname: address, health_flags: 'healthy', weight };
    const facts = Object.entries({ ...known, ...FIXED_FACTS });
    return facts.map(([key, value]) => `${addressAndPort(address, port)}::${key}::${value}`);
  });
  const lines = [`observability_name::${name}`, ...limits, 'added_via_api::true', ...hosts];
  return lines.map((line) => `${name}::${line}\n`).join('');
}

/** 64-bit numbers are strings, as in Protocol Buffers' JSON. */
function asJson(upstream: SnapshotUpstream, counters: CounterLookup): object {
  const { name, endpoints } = upstream;
  return {
    name,
    added_via_api: true,
    host_statuses: endpoints.map((endpoint) => ({
      address: { socket_address: { address: endpoint.address, port_value: endpoint.port } },
      stats: Object.entries(counters(upstream, endpoint)).map(([stat, value]) => ({
        name: stat,
        value: String(value),
        type: stat.endsWith('_active') ? 'GAUGE' : 'COUNTER',
      })),
      health_status: { eds_health_status: 'HEALTHY' },
      weight: endpoint.weight,
      hostname: endpoint.address,
      locality: {},
    })),
    circuit_breakers: { thresholds: thresholds(upstream) },
    observability_name: name,
  };
}
