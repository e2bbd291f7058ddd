import { createExpiringMap } from '../expiring-map.ts';

/** Finds the sessions that a provider ends by its own session or subject. */
export interface SessionIndex {
  add(keys: readonly string[], id: string): Promise<void>;
  /** Takes the ids under these keys out. */
  take(keys: readonly string[]): Promise<readonly string[]>;
}

const MAX_KEYS = 100_000;
const MAX_IDS = 1000;

/** An index of this process only. Entries are kept for `ttlMs`. */
export function createLocalIndex(ttlMs: number, now: () => number): SessionIndex {
  const entries = createExpiringMap<string[]>({ max: MAX_KEYS, ttlMs, now });
  return {
    async add(keys, id) {
      for (const key of keys) entries.set(key, [...(entries.get(key) ?? []).slice(1 - MAX_IDS), id]);
    },
    async take(keys) {
      const ids = new Set<string>();
      for (const key of keys) {
        for (const id of entries.get(key) ?? []) ids.add(id);
        entries.delete(key);
      }
      return [...ids];
    },
  };
}
