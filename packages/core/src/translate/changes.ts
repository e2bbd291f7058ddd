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
  const keys = new Set<ResourceKey>();
  const kinds = new Set<Kind>();
  const members = new Set<Kind>();
  let kept = 0;
  for (const [key, stored] of now) {
    const known = before.get(key);
    if (known) kept++;
    if (known === stored) continue;
    keys.add(key);
    kinds.add(kindOf(key));
    if (!known) members.add(kindOf(key));
  }
  if (kept < before.size) {
    for (const key of before.keys()) {
      if (now.has(key)) continue;
      keys.add(key);
      kinds.add(kindOf(key));
      members.add(kindOf(key));
    }
  }
  return { keys, kinds, members };
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
