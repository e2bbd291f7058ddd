import {
  compileRegex,
  fromByteString,
  type Counter,
  type Histogram,
  type Metrics,
  type Regex,
  type VirtualHost,
} from '@edge-gateway/core';
import type { RequestView, RequestResult } from '../../format/record.ts';
import { createStatusCounters } from '../../upstream/stats.ts';

type Written = NonNullable<NonNullable<VirtualHost['options']['stats']>['virtualClusters']>[number];

/** A group of the requests of a virtual host, with statistics of its own. */
interface VirtualCluster {
  readonly name: string;
  readonly total: Counter;
  readonly completed: Counter;
  readonly timeouts: Counter;
  readonly time: Histogram;
  responded(status: number): void;
}

interface Group extends VirtualCluster {
  readonly pattern: Regex;
  /** Empty for every method. */
  readonly method: string;
}

/** The request as it was matched. */
export type ClusteredRequest = Pick<RequestView, 'method'> & { readonly originalPath: string };

/** `stats.virtualClusters` of a virtual host: the first group whose pattern matches the path with its query counts a request. */
export class VirtualClusters {
  readonly #groups: readonly Group[];
  /** Counts requests of no group. */
  readonly #other: VirtualCluster;

  constructor(host: string, groups: readonly Written[], metrics: Metrics) {
    const label = host.replaceAll('.', '_');
    this.#groups = groups.map(({ name = '', pattern = '', method = '' }) => ({
      ...createStats(metrics, label, name),
      pattern: compileRegex(pattern),
      method,
    }));
    this.#other = createStats(metrics, label, 'other');
  }

  /** Returns the name of the group of a request; empty if there is none. */
  nameOf(request: ClusteredRequest): string {
    return this.#find(request)?.name ?? '';
  }

  /** Counts a request that was sent upstream. A status of 0 was never received. */
  count(request: ClusteredRequest, { status, durationMs, flags }: Readonly<RequestResult>): void {
    const group = this.#find(request) ?? this.#other;
    group.total.value++;
    if (flags.includes('UT')) group.timeouts.value++;
    if (status === 0) return;
    group.completed.value++;
    group.responded(status);
    group.time.observe(durationMs);
  }

  #find({ method, originalPath }: ClusteredRequest): Group | undefined {
    return this.#groups.find((group) => {
      return (group.method === '' || group.method === method) && group.pattern.fullMatch(fromByteString(originalPath));
    });
  }
}

/** Returns the groups of a virtual host, if it has any. Throws for a pattern that does not compile. */
export function compileVirtualClusters({ name, options }: VirtualHost, metrics: Metrics): VirtualClusters | undefined {
  const groups = options.stats?.virtualClusters ?? [];
  return groups.length === 0 ? undefined : new VirtualClusters(name, groups, metrics);
}

function createStats(metrics: Metrics, host: string, name: string): VirtualCluster {
  const prefix = `vhost.${host}.vcluster.${name.replaceAll('.', '_')}.`;
  const metric = 'envoy_vhost_vcluster_upstream_rq';
  const labels = { envoy_virtual_host: host, envoy_virtual_cluster: name };
  const named = (suffix: string) => ({
    path: `${prefix}upstream_rq_${suffix}`,
    metric: `${metric}_${suffix}`,
    labels,
  });
  return {
    name,
    total: metrics.counter(named('total')),
    completed: metrics.counter(named('completed')),
    timeouts: metrics.counter(named('timeout')),
    time: metrics.histogram(named('time')),
    responded: createStatusCounters(metrics.counter, { prefix, metric, labels }),
  };
}
