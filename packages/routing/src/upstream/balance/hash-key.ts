import { hostOf } from '../../http1/authority.ts';
import type { Host } from '../hosts/host.ts';
import type { WeightedHost } from './algorithm.ts';

/** Returns the text by which consistent hashing knows a host: its label `hash_key`, its DNS name, or its address. */
export function hashKeyOf(host: Host, hashesHostnames: boolean): string {
  return host.metadata?.['hash_key'] ?? (hashesHostnames ? host.hostname : hostOf(host));
}

/** A host with its key and its share of all weights, 0 to 1. */
export interface HashedHost {
  readonly host: Host;
  readonly key: string;
  readonly share: number;
}

/** Returns the hosts with a positive weight, ordered by key so that the order of the endpoints does not matter. */
export function hashedHosts(hosts: readonly WeightedHost[], hashesHostnames: boolean): HashedHost[] {
  const total = hosts.reduce((sum, { weight }) => sum + weight, 0);
  return hosts
    .filter(({ weight }) => weight > 0)
    .map(({ host, weight }) => ({ host, key: hashKeyOf(host, hashesHostnames), share: weight / total }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Returns the hash of a request, a random one if nothing of it is hashed. */
export function hashOrRandom(hash: bigint | undefined): bigint {
  if (hash !== undefined) return hash;
  return (BigInt(Math.floor(Math.random() * 2 ** 32)) << 32n) | BigInt(Math.floor(Math.random() * 2 ** 32));
}
