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
 * Creates the choice among subsets of the hosts: a request with labels whose names are those of a selector goes to the hosts with
 * these labels. If there is none, or for requests without labels, the fallback policy decides.
 */
export function createSubsets(hosts: readonly Host[], spec: SubsetSpec, settings: LoadSettings): PickHost {
  const selectors = new Map((spec.selectors ?? []).map((each) => [nameOfKeys(each.keys ?? []), each]));
  const subsets = new Map<string, PickHost | undefined>();
  const fallback = fallbackOf(hosts, spec, settings);

  /** Returns the choice among the hosts with these labels; `undefined` if there is none. */
  function subsetOf(labels: Labels): PickHost | undefined {
    const names = Object.keys(labels).sort();
    const selector = selectors.get(nameOfKeys(names));
    if (!selector) return undefined;
    const key = JSON.stringify(names.map((name) => [name, labels[name]]));
    if (!subsets.has(key)) {
      const members = hosts.filter((host) => hasLabels(host, labels));
      const used = selector.singleHostPerSubset ? members.slice(0, 1) : members;
      subsets.set(key, used.length > 0 ? createBalancer(used, settings) : undefined);
    }
    return subsets.get(key);
  }

  return (context) => {
    const subset = context?.metadataMatch && subsetOf(context.metadataMatch);
    return (subset ?? fallback)(context);
  };
}

function nameOfKeys(keys: readonly string[]): string {
  return JSON.stringify([...new Set(keys)].sort());
}

function fallbackOf(hosts: readonly Host[], spec: SubsetSpec, settings: LoadSettings): PickHost {
  const { fallbackPolicy = 'ANY_ENDPOINT', defaultSubset } = spec;
  if (fallbackPolicy === 'NO_FALLBACK') return () => undefined;
  if (fallbackPolicy === 'ANY_ENDPOINT') return createBalancer(hosts, settings);
  return createBalancer(
    hosts.filter((host) => hasLabels(host, defaultSubset?.values ?? {})),
    settings,
  );
}
