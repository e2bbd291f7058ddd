import { createSweep } from './expiring.ts';

/** Finds the sessions that a provider ends by its own session or subject. */
export interface SessionIndex {
  /**
   * Adds a session under each key until `endsAt` (milliseconds), or changes its end. Returns the sessions that were evicted
   * because there are too many under a key: they can no longer be found, so they must be removed.
   */
  add(keys: readonly string[], entry: IndexEntry): Promise<readonly string[]>;
  /** Returns the ids under these keys. They stay until `forget`, so that a removal that failed can be repeated. */
  find(keys: readonly string[]): Promise<readonly string[]>;
  /** Removes these ids, but not those that were added meanwhile. */
  forget(keys: readonly string[], ids: readonly string[]): Promise<void>;
}

/** A session in an index. */
export interface IndexEntry {
  readonly id: string;
  readonly endsAt: number;
}

/** Maximum number of sessions under one key. */
export const MAX_IDS = 1000;
const MAX_KEYS = 200_000;
/** Number of keys that each addition checks for expired sessions. */
const SWEPT_KEYS = 4;

/** Creates an index of this process only, on a clock in milliseconds. */
export function createLocalIndex(now: () => number, maxIds = MAX_IDS): SessionIndex {
  /** Ends by id, by key. */
  const entries = new Map<string, Map<string, number>>();

  function prune(key: string): void {
    const ids = entries.get(key);
    for (const [id, endsAt] of ids ?? []) if (endsAt <= now()) ids!.delete(id);
    if (ids?.size === 0) entries.delete(key);
  }

  const sweep = createSweep(entries, SWEPT_KEYS, prune);

  function addTo(key: string, { id, endsAt }: IndexEntry): readonly string[] {
    prune(key);
    const ids = entries.get(key) ?? new Map<string, number>();
    entries.set(key, ids.set(id, endsAt));
    const surplus = ids.size > maxIds ? firstToExpire(ids, ids.size - maxIds) : [];
    for (const each of surplus) ids.delete(each);
    const [oldest] = entries.size > MAX_KEYS ? entries : [];
    if (!oldest) return surplus;
    entries.delete(oldest[0]);
    return [...surplus, ...oldest[1].keys()];
  }

  return {
    async add(keys, entry) {
      sweep();
      return keys.flatMap((key) => addTo(key, entry));
    },
    async find(keys) {
      return [...new Set(keys.flatMap((key) => [...(entries.get(key)?.keys() ?? [])]))];
    },
    async forget(keys, ids) {
      for (const key of keys) {
        for (const id of ids) entries.get(key)?.delete(id);
        prune(key);
      }
    },
  };
}

function firstToExpire(ends: ReadonlyMap<string, number>, count: number): readonly string[] {
  const byEnd = [...ends].toSorted(([, one], [, other]) => one - other);
  return byEnd.slice(0, count).map(([id]) => id);
}
