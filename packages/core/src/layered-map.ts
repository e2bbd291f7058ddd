/** Smaller maps are copied: that costs less than a second lookup. */
const MIN_LAYERED = 512;

const REMOVED = Symbol('removed');

/** How a map that was copied with its changes differs from the one below them. It does not keep that one in memory. */
interface Origin {
  readonly base: WeakRef<ReadonlyMap<unknown, unknown>>;
  readonly changed: readonly unknown[];
}

const origins = new WeakMap<ReadonlyMap<unknown, unknown>, Origin>();

/** Changes of a map: new values, and `undefined` for removed keys. */
export type MapChanges<K, V> = Iterable<readonly [K, V | undefined]>;

/**
 * Returns a map with changes; `before` is not modified. The cost grows with the number of changes and with the root of the number of
 * entries, not with the number of entries. Values must not be `undefined`.
 *
 * @example
 * const next = withChanges(resources, [['Upstream/gw-system/a', changed], ['Upstream/gw-system/b', undefined]]);
 */
export function withChanges<K, V extends {}>(
  before: ReadonlyMap<K, V>,
  changes: MapChanges<K, V>,
  minLayered: number = MIN_LAYERED,
): ReadonlyMap<K, V> {
  const base = before instanceof LayeredMap ? before.base : before;
  if (base.size < minLayered) return copied(before, changes);
  const top = new Map<K, V | typeof REMOVED>(before instanceof LayeredMap ? before.top : []);
  let { size } = before;
  for (const [key, value] of changes) {
    const known = top.get(key) ?? base.get(key);
    const wasThere = known !== undefined && known !== REMOVED;
    if (value !== undefined) top.set(key, value);
    else if (base.has(key)) top.set(key, REMOVED);
    else top.delete(key);
    size += Number(value !== undefined) - Number(wasThere);
  }
  const layered = new LayeredMap<K, V>(base, top, size);
  if (top.size ** 2 < 4 * base.size) return layered;
  const copy = new Map(layered);
  origins.set(copy, { base: new WeakRef(base), changed: [...top.keys()] });
  return copy;
}

/**
 * Returns the keys whose values differ between two maps, by identity. For a map and a later one that {@link withChanges} made of it, the
 * cost usually grows with the number of changes, not with the number of entries.
 *
 * @example
 * for (const key of differingKeys(before, now)) report(key, now.get(key));
 */
export function differingKeys<K, V extends {}>(before: ReadonlyMap<K, V>, now: ReadonlyMap<K, V>): Set<K> {
  const differing = new Set<K>();
  if (before === now) return differing;
  const [old, next] = [layersOf(before), layersOf(now)];
  const between = old.base === next.base ? NO_KEYS : changedSince(old.base, next.base);
  const candidates = between ? [old.top.keys(), between, next.top.keys()] : [before.keys(), now.keys()];
  for (const keys of candidates) for (const key of keys) if (before.get(key) !== now.get(key)) differing.add(key);
  return differing;
}

/** Returns the keys that may differ in a map that was copied from another one with its changes; `undefined` for any other map. */
function changedSince<K, V>(before: ReadonlyMap<K, V>, now: ReadonlyMap<K, V>): Iterable<K> | undefined {
  const origin = origins.get(now);
  return origin?.base.deref() === before ? (origin.changed as readonly K[]) : undefined;
}

const NO_KEYS: readonly never[] = [];

function copied<K, V extends {}>(before: ReadonlyMap<K, V>, changes: MapChanges<K, V>): Map<K, V> {
  const map = new Map(before);
  for (const [key, value] of changes) {
    if (value === undefined) map.delete(key);
    else map.set(key, value);
  }
  return map;
}

function layersOf<K, V extends {}>(map: ReadonlyMap<K, V>) {
  return map instanceof LayeredMap
    ? { base: map.base as ReadonlyMap<K, V>, top: map.top as LayeredMap<K, V>['top'] }
    : { base: map, top: EMPTY };
}

const EMPTY: ReadonlyMap<never, never> = new Map<never, never>();

/** A map that shares most entries with others: those of `top` replace those of `base`. Both are never modified. */
class LayeredMap<K, V extends {}> implements ReadonlyMap<K, V> {
  readonly base: ReadonlyMap<K, V>;
  readonly top: ReadonlyMap<K, V | typeof REMOVED>;
  readonly size: number;

  constructor(base: ReadonlyMap<K, V>, top: ReadonlyMap<K, V | typeof REMOVED>, size: number) {
    this.base = base;
    this.top = top;
    this.size = size;
  }

  get(key: K): V | undefined {
    const own = this.top.get(key);
    if (own === undefined) return this.base.get(key);
    return own === REMOVED ? undefined : own;
  }

  has(key: K): boolean {
    return this.get(key) !== undefined;
  }

  *entries(): MapIterator<[K, V]> {
    const { base, top } = this;
    for (const entry of base) {
      const own = top.get(entry[0]);
      if (own === undefined) yield entry;
      else if (own !== REMOVED) yield [entry[0], own];
    }
    for (const [key, own] of top) if (own !== REMOVED && !base.has(key)) yield [key, own];
  }

  *keys(): MapIterator<K> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): MapIterator<V> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  forEach(callback: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.entries()) callback(value, key, this);
  }
}
