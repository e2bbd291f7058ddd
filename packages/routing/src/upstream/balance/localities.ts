import { createRoundRobin } from '@edge-gateway/core';
import type { Host } from '../hosts/host.ts';
import type { Algorithm, PickHost, WeightedHost } from './algorithm.ts';
import { usesHash } from './algorithms.ts';
import type { LoadSettings } from './load-settings.ts';

interface WeightedLocality {
  readonly hosts: readonly Host[];
  readonly weight: number;
}

/**
 * Creates the choice among `usable`, which are hosts of one priority: by the weights of their localities if the upstream uses
 * them, otherwise by their own weights. `all` are the hosts of the priority, whose missing share reduces the weight of a locality.
 */
export function chooseAmong(
  usable: readonly Host[],
  all: readonly Host[],
  settings: LoadSettings,
  algorithm: Algorithm,
): PickHost {
  const localities = settings.byLocality ? weightedLocalities(usable, all, settings) : [];
  if (localities.length === 0) return algorithm(usable.map(asWeighted));
  if (usesHash(settings)) return algorithm(localities.flatMap(scaled));
  const next = createRoundRobin(
    localities.map(({ hosts, weight }) => ({ weight, pick: algorithm(hosts.map(asWeighted)) })),
  );
  return (context) => next()?.pick(context);
}

function asWeighted(host: Host): WeightedHost {
  return { host, weight: host.weight };
}

/** Hosts of a locality with weights that add up to that of the locality. */
function scaled({ hosts, weight }: WeightedLocality): WeightedHost[] {
  const total = hosts.reduce((sum, host) => sum + host.weight, 0);
  return hosts.map((host) => ({ host, weight: (host.weight * weight) / total }));
}

/** Localities without a weight receive nothing, unless no locality has one: then the result is empty. */
function weightedLocalities(usable: readonly Host[], all: readonly Host[], settings: LoadSettings): WeightedLocality[] {
  const members = Map.groupBy(all, nameOfLocality);
  const localities = [...Map.groupBy(usable, nameOfLocality)].map(([name, hosts]) => {
    const available = (settings.overprovisioningFactor / 100) * (hosts.length / members.get(name)!.length);
    return { hosts, weight: (hosts[0]!.endpoint.localityWeight ?? 0) * Math.min(1, available) };
  });
  return localities.filter(({ weight }) => weight > 0);
}

function nameOfLocality({ locality: { region = '', zone = '', subZone = '' } }: Host): string {
  return `${region}/${zone}/${subZone}`;
}
