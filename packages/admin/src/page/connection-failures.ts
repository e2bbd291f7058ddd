import type { ConnectionFailure, Metrics } from '@edge-gateway/core';
import { addressAndPort } from '../http/address.ts';
import type { StatusSources } from './sources.ts';

/** Failures are shown this long. */
const RECENT_MS = 3_600_000;
const FAILED = [
  'envoy_cluster_upstream_cx_connect_fail',
  'envoy_cluster_upstream_rq_timeout',
  'envoy_cluster_upstream_rq_per_try_timeout',
] as const;

/** A failure of a host in the last hour. */
export interface RecentFailure extends ConnectionFailure {
  readonly upstream: string;
  /** Address and port. */
  readonly host: string;
}

/** Returns the last failed connection or timeout of each host in the last hour, the newest first. Only upstreams with failures are looked at. */
export function recentFailures({ metrics, hostStates, now }: StatusSources): readonly RecentFailure[] {
  const since = now() - RECENT_MS;
  const failures = failedUpstreams(metrics).flatMap((upstream) =>
    (hostStates?.(upstream) ?? []).flatMap(({ address, port, lastFailure }): RecentFailure[] =>
      lastFailure && lastFailure.at >= since ? [{ ...lastFailure, upstream, host: addressAndPort(address, port) }] : [],
    ),
  );
  return failures.sort((a, b) => b.at - a.at);
}

/** Returns the upstreams with connections that could not be opened, or requests that timed out, ever. */
export function failedUpstreams(metrics: Metrics): string[] {
  const failed = FAILED.flatMap((family) => [...(metrics.families().get(family) ?? [])]).flatMap(
    ({ name, type, stat }) =>
      type !== 'histogram' && stat.value > 0 ? [name.labels?.['envoy_cluster_name'] ?? ''] : [],
  );
  return [...new Set(failed)];
}

/** Returns the upstreams with a host to which the last connection or request failed, in the last hour. */
export function failingUpstreams(sources: StatusSources): ReadonlySet<string> {
  return new Set(recentFailures(sources).flatMap(({ upstream, isOver }) => (isOver ? [] : [upstream])));
}
