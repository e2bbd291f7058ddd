import type { Endpoint, SnapshotUpstream } from '@edge-gateway/core';
import type { PickHost } from '../../../src/upstream/balance/algorithm.ts';
import { createBalancer } from '../../../src/upstream/balance/balancer.ts';
import { loadSettings } from '../../../src/upstream/balance/load-settings.ts';
import { HostSet } from '../../../src/upstream/hosts/host-set.ts';
import type { Host } from '../../../src/upstream/hosts/host.ts';
import type { PickContext } from '../../../src/upstream/hosts/pick-context.ts';

/** Hosts 10.0.0.1, 10.0.0.2, …: one for each entry. */
export function hostsOf(entries: readonly Partial<Endpoint>[]): readonly Host[] {
  const hosts = new HostSet();
  hosts.update(entries.map((parts, i) => ({ address: `10.0.0.${i + 1}`, port: 80, weight: 1, ...parts })));
  return hosts.all;
}

/** `count` hosts of weight 1. */
export function equalHosts(count: number): readonly Host[] {
  return hostsOf(Array.from({ length: count }, () => ({})));
}

export function balancerOf(hosts: readonly Host[], spec: SnapshotUpstream['spec'] = {}): PickHost {
  return createBalancer(hosts, loadSettings({ spec }));
}

/** How often each of the hosts is picked. */
export function countPicks(
  pick: PickHost,
  hosts: readonly Host[],
  count: number,
  contextOf?: (i: number) => PickContext,
): number[] {
  const counts = new Map(hosts.map((host) => [host, 0]));
  for (let i = 0; i < count; i++) {
    const host = pick(contextOf?.(i));
    if (!host) throw new Error('no host');
    counts.set(host, counts.get(host)! + 1);
  }
  return [...counts.values()];
}

/**
 * The largest deviation from the mean of a binomial distribution that is accepted: 6 standard deviations, exceeded once in 500
 * million tests.
 */
export function tolerance(count: number, share: number): number {
  return 6 * Math.sqrt(count * share * (1 - share));
}
