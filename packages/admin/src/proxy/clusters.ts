import {
  DEFAULTS,
  type ConnectionFailure,
  type HealthFlagName,
  type HostState,
  type SnapshotUpstream,
} from '@edge-gateway/core';
import { renamed, type EnvoyMessage } from '@edge-gateway/core/envoy';
import { addressAndPort } from '../http/address.ts';
import { json } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { lazily } from '../http/json-chunks.ts';
import type { ProxyAdminOptions } from './proxy-options.ts';
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

/** What `/clusters` shows of a host; without counters if they are unknown. */
type ShownHost = Omit<HostState, 'counters'> & { readonly counters: Readonly<Record<string, number>> };

/** Returns the hosts of a cluster. */
type HostLookup = (upstream: SnapshotUpstream) => readonly ShownHost[];

/** `/clusters`: every upstream with its limits and endpoints. */
export function clusters(options: ProxyAdminOptions): Endpoint {
  return {
    paths: ['/clusters'],
    help: 'upstreams and their endpoints',
    parameters: [
      { name: 'filter', help: 'only names that contain a match of this RE2 expression' },
      { name: 'format', help: 'output format', values: ['text', 'json'] },
    ],
    respond: async (parameters) => {
      const matches = statFilter(parameters);
      await Promise.all([options.refresh?.('stats'), options.refresh?.('hosts')]);
      const hostsOf = hostLookup(options);
      const upstreams = (options.snapshot()?.upstreams ?? []).filter(({ name }) => matches(name));
      if (parameters.get('format') !== 'json') return { body: lazily(upstreams, (each) => asText(each, hostsOf)) };
      return json({ cluster_statuses: lazily(upstreams, (each) => asJson(each, hostsOf)) });
    },
  };
}

/**
 * Returns the live hosts of a cluster if they are known. Otherwise its declared endpoints, the only one of a cluster with the
 * counters of the cluster.
 */
function hostLookup({ context, hostStates }: ProxyAdminOptions): HostLookup {
  const values = new Map<string, number>();
  for (const { name, type, stat } of context.metrics.list())
    if (type !== 'histogram') values.set(name.path, stat.value);
  const clusterCounters = (cluster: string): Record<string, number> => {
    const value = (stat: string): number => values.get(`cluster.${cluster}.${stat}`) ?? 0;
    return Object.fromEntries(
      Object.entries(CLUSTER_STATS).map(([key, stats]) => [key, stats.reduce((sum, stat) => sum + value(stat), 0)]),
    );
  };
  return ({ name, endpoints }) =>
    hostStates?.(name) ??
    endpoints.map(({ address, port, weight, hostname = address, priority = 0, locality = {} }) => ({
      address,
      port,
      weight,
      hostname,
      priority,
      locality,
      counters: endpoints.length === 1 ? clusterCounters(name) : {},
      healthFlags: [],
      successRate: -1,
      localOriginSuccessRate: -1,
    }));
}

/** Returns the limits of both priorities; only those of the default priority can be set. */
function thresholds({ spec }: SnapshotUpstream): EnvoyMessage[] {
  return [
    { priority: 'DEFAULT', ...renamed({ ...DEFAULTS, ...spec.circuitBreakers }, LIMITS) },
    { priority: 'HIGH', ...renamed(DEFAULTS, LIMITS) },
  ];
}

function asText(upstream: SnapshotUpstream, hostsOf: HostLookup): string {
  const { name } = upstream;
  const limits = thresholds(upstream).flatMap(({ priority, ...values }) =>
    Object.entries(values).map(([key, value]) => `${String(priority).toLowerCase()}_priority::${key}::${value}`),
  );
  const hosts = hostsOf(upstream).flatMap((host) =>
    Object.entries(factsOf(host)).map(([key, value]) => `${addressAndPort(host.address, host.port)}::${key}::${value}`),
  );
  const lines = [`observability_name::${name}`, ...limits, 'added_via_api::true', ...hosts];
  return lines.map((line) => `${name}::${line}\n`).join('');
}

function factsOf({ counters, healthFlags, locality, ...host }: ShownHost): Record<string, unknown> {
  return {
    ...counters,
    hostname: host.hostname,
    health_flags: healthFlags.length === 0 ? 'healthy' : healthFlags.map((flag) => `/${flag}`).join(''),
    weight: host.weight,
    region: locality.region ?? '',
    zone: locality.zone ?? '',
    sub_zone: locality.subZone ?? '',
    canary: false,
    priority: host.priority,
    success_rate: host.successRate,
    local_origin_success_rate: host.localOriginSuccessRate,
  };
}

/** 64-bit numbers are strings, as in Protocol Buffers' JSON. */
function asJson(upstream: SnapshotUpstream, hostsOf: HostLookup): object {
  const { name } = upstream;
  return {
    name,
    added_via_api: true,
    host_statuses: hostsOf(upstream).map(hostStatus),
    circuit_breakers: { thresholds: thresholds(upstream) },
    observability_name: name,
  };
}

function hostStatus({ counters, ...host }: ShownHost): object {
  const { region, zone, subZone } = host.locality;
  return {
    address: { socket_address: { address: host.address, port_value: host.port } },
    stats: Object.entries(counters).map(([stat, value]) => ({
      name: stat,
      value: String(value),
      type: stat.endsWith('_active') ? 'GAUGE' : 'COUNTER',
    })),
    health_status: { ...healthStatus(host.healthFlags), eds_health_status: 'HEALTHY' },
    ...(host.successRate >= 0 && { success_rate: { value: host.successRate } }),
    ...(host.localOriginSuccessRate >= 0 && { local_origin_success_rate: { value: host.localOriginSuccessRate } }),
    ...(host.lastFailure && { last_failure: failureOf(host.lastFailure) }),
    weight: host.weight,
    hostname: host.hostname,
    ...(host.priority > 0 && { priority: host.priority }),
    locality: { ...(region && { region }), ...(zone && { zone }), ...(subZone && { sub_zone: subZone }) },
  };
}

/** Not a field of Envoy. */
function failureOf({ at, reason, isOver, isTimeout = false }: ConnectionFailure): object {
  return { time: new Date(at).toISOString(), reason, is_over: isOver, is_timeout: isTimeout };
}

/** Names of health flags in JSON. */
const JSON_FLAGS: Readonly<Record<HealthFlagName, string>> = {
  failed_active_hc: 'failed_active_health_check',
  failed_outlier_check: 'failed_outlier_check',
  degraded_active_hc: 'failed_active_degraded_check',
  pending_dynamic_removal: 'pending_dynamic_removal',
  pending_active_hc: 'pending_active_hc',
  excluded_via_immediate_hc_fail: 'excluded_via_immediate_hc_fail',
  active_hc_timeout: 'active_hc_timeout',
};

function healthStatus(flags: readonly HealthFlagName[]): Record<string, true> {
  return Object.fromEntries(flags.map((flag) => [JSON_FLAGS[flag], true]));
}
