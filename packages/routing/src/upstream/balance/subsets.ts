import type { SubsetSpec } from '@edge-gateway/core/schema';
import type { Host } from '../hosts/host.ts';
import type { PickHost } from './algorithm.ts';
import { createBalancer } from './balancer.ts';
import type { LoadSettings } from './load-settings.ts';

type Labels = Readonly<Record<string, string>>;

/** Returns true if the host has all these labels. */
export function hasLabels({ metadata }: Host, labels: Labels): boolean {
  return Object.entries(labels).every(([name, value]) => metadata?.[name] === value);
}

/**
 * Returns the hosts for requests with these labels: those with the labels, if their names are those of a selector; if there is
 * none, or for requests without labels, the hosts of the fallback policy.
 */
export function membersOf(hosts: readonly Host[], spec: SubsetSpec, labels: Labels | undefined): readonly Host[] {
  const selector = labels && selectorOf(spec, Object.keys(labels));
  const members = selector ? hosts.filter((host) => hasLabels(host, labels!)) : [];
  if (members.length > 0) return selector?.singleHostPerSubset ? members.slice(0, 1) : members;
  const { fallbackPolicy = 'ANY_ENDPOINT', defaultSubset } = spec;
  if (fallbackPolicy === 'NO_FALLBACK') return [];
  if (fallbackPolicy === 'ANY_ENDPOINT') return hosts;
  return hosts.filter((host) => hasLabels(host, defaultSubset?.values ?? {}));
}

function selectorOf({ selectors = [] }: SubsetSpec, names: readonly string[]) {
  return selectors.find(({ keys = [] }) => {
    const distinct = new Set(keys);
    return distinct.size === names.length && names.every((name) => distinct.has(name));
  });
}

/** Creates the choice among the subsets of the hosts, each at its first request. */
export function createSubsets(hosts: readonly Host[], spec: SubsetSpec, settings: LoadSettings): PickHost {
  const fallback = createBalancer(membersOf(hosts, spec, undefined), settings);
  // Labels are those of destinations: compiled with the route, and the same object for each request.
  const subsets = new WeakMap<Labels, PickHost>();
  return (context) => {
    const labels = context?.metadataMatch;
    if (!labels) return fallback(context);
    let subset = subsets.get(labels);
    if (!subset) subsets.set(labels, (subset = createBalancer(membersOf(hosts, spec, labels), settings)));
    return subset(context);
  };
}
