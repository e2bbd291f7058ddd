import type { Kind } from '../resource/resource.ts';
import type { StoredResource, StoreState } from '../resource/stored.ts';
import { kindOf, type Changes } from './changes.ts';

export type Lists = ReadonlyMap<Kind, readonly StoredResource[]>;

/** Returns the stored resources of each kind, sorted by key. Lists of unchanged kinds are those of `before`. */
export function listsOf(stored: StoreState['stored'], before: Lists | undefined, changes: Changes | undefined): Lists {
  if (!before || !changes || changes.members.size > 0) return grouped(stored, before, changes);
  const lists = new Map(before);
  for (const kind of changes.kinds) {
    lists.set(
      kind,
      before.get(kind)!.map((old) => (changes.keys.has(old.key) ? stored.get(old.key)! : old)),
    );
  }
  return lists;
}

function grouped(stored: StoreState['stored'], before: Lists | undefined, changes: Changes | undefined): Lists {
  const lists = new Map<Kind, StoredResource[]>();
  for (const one of stored.values()) {
    const kind = kindOf(one.key);
    const list = lists.get(kind);
    if (list) list.push(one);
    else lists.set(kind, [one]);
  }
  for (const [kind, list] of lists) {
    const same = before && changes && !changes.kinds.has(kind) ? before.get(kind) : undefined;
    if (same) lists.set(kind, same as StoredResource[]);
    else list.sort((a, b) => (a.key < b.key ? -1 : 1));
  }
  return lists;
}

/** Returns true if two lists have the same elements, compared by identity. */
export function hasSameItems(now: readonly unknown[], before: readonly unknown[] | undefined): boolean {
  return before?.length === now.length && now.every((one, i) => one === before[i]);
}

/** Returns the previous list if it has the same elements. */
export function sameList<T>(now: readonly T[], before: readonly T[] | undefined): readonly T[] {
  return before && hasSameItems(now, before) ? before : Object.freeze(now);
}
