import type { HostCounters, HostState } from '@edge-gateway/core';

/** The hosts that one worker reported, by the name of the upstream. */
export type HostsByUpstream = ReadonlyMap<string, readonly HostState[]>;

/**
 * Returns the hosts of an upstream in all workers: counters are added, and a host has the health flags that any worker set. `undefined` if no
 * worker knows the upstream.
 */
export function mergeHosts(reports: readonly HostsByUpstream[], upstream: string): readonly HostState[] | undefined {
  const found = reports.flatMap((hosts) => hosts.get(upstream) ?? []);
  if (!reports.some((hosts) => hosts.has(upstream))) return undefined;
  const groups = Map.groupBy(found, ({ address, port, priority }) => `${address} ${port} ${priority}`);
  return [...groups.values()].map(merge);
}

function merge(states: readonly HostState[]): HostState {
  const failures = states.flatMap(({ lastFailure }) => lastFailure ?? []);
  const lastFailure = failures.toSorted((a, b) => b.at - a.at)[0];
  return {
    ...states[0]!,
    counters: addCounters(states.map(({ counters }) => counters)),
    healthFlags: [...new Set(states.flatMap(({ healthFlags }) => healthFlags))],
    successRate: lowest(states.map(({ successRate }) => successRate)),
    localOriginSuccessRate: lowest(states.map(({ localOriginSuccessRate }) => localOriginSuccessRate)),
    ...(lastFailure && { lastFailure }),
  };
}

function addCounters(all: readonly HostCounters[]): HostCounters {
  const names = Object.keys(all[0]!) as (keyof HostCounters)[];
  const sums = names.map((name) => [name, all.reduce((sum, counters) => sum + counters[name], 0)] as const);
  return Object.fromEntries(sums) as HostCounters;
}

/** The lowest known rate; -1 if none is known. */
function lowest(rates: readonly number[]): number {
  const known = rates.filter((rate) => rate >= 0);
  return known.length > 0 ? Math.min(...known) : -1;
}
