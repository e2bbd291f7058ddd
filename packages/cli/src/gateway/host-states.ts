import type { HealthFlagName, HostCounters, HostState } from '@edge-gateway/core';
import { dig, items, text } from '../resources/objects.ts';
import type { Connection } from './connection.ts';

/** Names of health flags in `/clusters?format=json`. */
const FLAGS: Readonly<Record<string, HealthFlagName>> = {
  failed_active_health_check: 'failed_active_hc',
  failed_outlier_check: 'failed_outlier_check',
  failed_active_degraded_check: 'degraded_active_hc',
  pending_dynamic_removal: 'pending_dynamic_removal',
  pending_active_hc: 'pending_active_hc',
  excluded_via_immediate_hc_fail: 'excluded_via_immediate_hc_fail',
  active_hc_timeout: 'active_hc_timeout',
};

/** Reads the hosts of every upstream from the proxy admin. */
export async function readHostStates(connection: Connection): Promise<ReadonlyMap<string, readonly HostState[]>> {
  const page: unknown = JSON.parse(await connection.proxy('/clusters?format=json'));
  return new Map(
    items(page, 'cluster_statuses').map((cluster) => [
      text(cluster, 'name'),
      items(cluster, 'host_statuses').map(hostState),
    ]),
  );
}

function hostState(status: unknown): HostState {
  const address = text(status, 'address', 'socket_address', 'address');
  const health = Object.keys((dig(status, 'health_status') ?? {}) as object);
  const counters = items(status, 'stats').map((stat) => [text(stat, 'name'), Number(text(stat, 'value'))]);
  return {
    address,
    port: numberAt(status, 'address', 'socket_address', 'port_value'),
    hostname: text(status, 'hostname') || address,
    weight: numberAt(status, 'weight'),
    priority: numberAt(status, 'priority'),
    locality: {
      region: text(status, 'locality', 'region'),
      zone: text(status, 'locality', 'zone'),
      subZone: text(status, 'locality', 'sub_zone'),
    },
    counters: Object.fromEntries(counters) as HostCounters,
    healthFlags: health.flatMap((name) => (Object.hasOwn(FLAGS, name) ? FLAGS[name]! : [])),
    successRate: rateAt(status, 'success_rate'),
    localOriginSuccessRate: rateAt(status, 'local_origin_success_rate'),
  };
}

function numberAt(status: unknown, ...path: string[]): number {
  return Number(dig(status, ...path) ?? 0);
}

function rateAt(status: unknown, name: string): number {
  const value = dig(status, name, 'value');
  return typeof value === 'number' ? value : -1;
}
