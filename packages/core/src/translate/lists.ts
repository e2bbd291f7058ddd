import type { Kind } from '../resource/resource.ts';
import type { StoredResource, StoreState } from '../resource/stored.ts';
import { rememberedRange, rememberRange } from '../ranges.ts';
import { kindOf, type Changes } from './changes.ts';

export type Lists = ReadonlyMap<Kind, readonly StoredResource[]>;

/** Returns the stored resources of each kind, sorted by key. Lists of unchanged kinds are those of `before`. */
export function listsOf(stored: StoreState['stored'], before: Lists | undefined, changes: Changes | undefined): Lists {
  if (!before || !changes) return grouped(stored);
  const lists = new Map(before);
  for (const [kind, keys] of Map.groupBy(changes.keys, kindOf)) {
    const items = keys.map((key) => [key, stored.get(key)] as const);
    const list = withItems(before.get(kind) ?? [], items, (one) => one.key);
    if (list.length > 0) lists.set(kind, list);
    else lists.delete(kind);
  }
  return lists;
}

function grouped(stored: StoreState['stored']): Lists {
  const lists = new Map<Kind, StoredResource[]>();
  for (const one of stored.values()) {
    const kind = kindOf(one.key);
    const list = lists.get(kind);
    if (list) list.push(one);
    else lists.set(kind, [one]);
  }
  for (const list of lists.values()) list.sort((a, b) => (a.key < b.key ? -1 : 1));
  return lists;
}

/** Few changes are found by their keys; for many, a list is built anew. */
const MAX_SEARCHED = 64;

/**
 * Returns a list that is sorted by unique keys with changed items; an item that is `undefined` is removed. `list` is not modified, and is
 * returned itself if nothing changes.
 */
export function withItems<T>(
  list: readonly T[],
  changes: readonly (readonly [key: string, item: T | undefined])[],
  keyOf: (item: T) => string,
): readonly T[] {
  if (changes.length > MAX_SEARCHED) return merged(list, changes, keyOf);
  let next: T[] | undefined;
  let start = list.length;
  /** Number of items after the last change. */
  let rest = list.length;
  for (const [key, item] of changes) {
    const known = next ?? list;
    const at = lowerBound(known, key, keyOf);
    const old = at < known.length && keyOf(known[at]!) === key ? known[at] : undefined;
    if (old === item) continue;
    next ??= [...list];
    next.splice(at, old === undefined ? 0 : 1, ...(item === undefined ? [] : [item]));
    start = Math.min(start, at);
    rest = Math.min(rest, next.length - at - (item === undefined ? 0 : 1));
  }
  if (next) rememberRange(next, list, { start, end: next.length - rest, oldEnd: list.length - rest });
  return next ?? list;
}

function merged<T>(
  list: readonly T[],
  changes: readonly (readonly [key: string, item: T | undefined])[],
  keyOf: (item: T) => string,
): readonly T[] {
  const changed = new Map(changes);
  const items = list.filter((item) => !changed.has(keyOf(item)));
  for (const item of changed.values()) if (item !== undefined) items.push(item);
  return sameList(
    items.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    list,
  );
}

/** Returns the index of the first item whose key is not less. */
export function lowerBound<T>(list: readonly T[], key: string, keyOf: (item: T) => string): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyOf(list[middle]!) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns true if two lists have the same elements, compared by identity. */
export function hasSameItems(now: readonly unknown[], before: readonly unknown[] | undefined): boolean {
  if (before?.length !== now.length) return false;
  const known = rememberedRange(now, before);
  return known ? known.start === known.end : now.every((one, i) => one === before[i]);
}

/** Returns the previous list if it has the same elements. */
export function sameList<T>(now: readonly T[], before: readonly T[] | undefined): readonly T[] {
  return before && hasSameItems(now, before) ? before : Object.freeze(now);
}
