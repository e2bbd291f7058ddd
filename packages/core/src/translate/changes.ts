import { differingKeys } from '../layered-map.ts';
import type { Kind, ResourceKey } from '../resource/resource.ts';
import type { StoreState } from '../resource/stored.ts';
import type { Dependencies } from './input.ts';

/** The differences between two states. */
export interface Changes {
  /** Resources added, removed or changed. */
  readonly keys: ReadonlySet<ResourceKey>;
  /** Kinds of them. */
  readonly kinds: ReadonlySet<Kind>;
  /** Kinds with added or removed resources. */
  readonly members: ReadonlySet<Kind>;
}

export function changesBetween(before: StoreState['stored'], now: StoreState['stored']): Changes {
  const keys = differingKeys(before, now);
  const kinds = new Set<Kind>();
  const members = new Set<Kind>();
  for (const key of keys) {
    kinds.add(kindOf(key));
    if (!before.has(key) || !now.has(key)) members.add(kindOf(key));
  }
  return { keys, kinds, members };
}

/** Which previous builds cannot be reused. */
export interface Outdated {
  /** False if all of them can be. */
  readonly any: boolean;
  has(build: { readonly dependencies: Dependencies }): boolean;
}

/** Returns true if a build read one of the keys. */
export function isAffected(dependencies: Dependencies, keys: ReadonlySet<ResourceKey>, changes: Changes): boolean {
  if (dependencies.everyTable && changes.kinds.has('RouteTable')) return true;
  for (const kind of dependencies.names) if (changes.members.has(kind)) return true;
  if (keys.size === 0) return false;
  for (const key of dependencies.keys) if (keys.has(key)) return true;
  return false;
}

export function kindOf(key: ResourceKey): Kind {
  return key.slice(0, key.indexOf('/')) as Kind;
}
