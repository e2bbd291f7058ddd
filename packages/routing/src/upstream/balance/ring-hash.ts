import type { Host } from '../hosts/host.ts';
import type { Algorithm } from './algorithm.ts';
import { hashedHosts, hashOrRandom, type HashedHost } from './hash-key.ts';
import type { LoadSettings } from './load-settings.ts';
import { xxHash64 } from './xx-hash.ts';

interface Ring {
  /** Ascending. */
  readonly hashes: BigUint64Array;
  readonly hosts: readonly Host[];
}

/**
 * Consistent hashing on a ring, as in Envoy: each host has points on a ring by its weight; a request goes to the host of the
 * first point at or after its hash. If a host is removed, mostly its own requests move.
 */
export function ringHash(settings: LoadSettings): Algorithm {
  return (weighted) => {
    const { hashes, hosts } = createRing(hashedHosts(weighted, settings.hashesHostnames), settings);
    return (context) => {
      if (hosts.length === 0) return undefined;
      const at = firstAtOrAfter(hashes, hashOrRandom(context?.hash));
      return hosts[(at + (context?.attempt ?? 1) - 1) % hosts.length];
    };
  };
}

function createRing(entries: readonly HashedHost[], { minimumRingSize, maximumRingSize }: LoadSettings): Ring {
  if (entries.length === 0) return { hashes: new BigUint64Array(), hosts: [] };
  const smallest = Math.min(...entries.map(({ share }) => share));
  // Large enough that the host of the smallest weight has a whole number of points.
  const scale = Math.min(Math.ceil(smallest * minimumRingSize) / smallest, maximumRingSize);
  const points: { readonly hash: bigint; readonly host: Host }[] = [];
  let wanted = 0;
  for (const { host, key, share } of entries) {
    wanted += scale * share;
    for (let i = 0; points.length < wanted; i++) points.push({ hash: xxHash64(`${key}_${i}`), host });
  }
  points.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0));
  return { hashes: BigUint64Array.from(points, ({ hash }) => hash), hosts: points.map(({ host }) => host) };
}

/** Returns the index of the first hash that is not smaller, 0 if all are. */
function firstAtOrAfter(hashes: BigUint64Array, hash: bigint): number {
  let low = 0;
  let high = hashes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (hashes[middle]! < hash) low = middle + 1;
    else high = middle;
  }
  return low === hashes.length ? 0 : low;
}
