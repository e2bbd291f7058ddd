import { randomBytes } from 'node:crypto';
import { keyedDigest } from '@edge-gateway/core';
import { LRUCache } from 'lru-cache';

/** Most entries of a store. */
const MAX_ENTRIES = 10_000;
/** Most bytes of all entries of a store, as JSON. */
export const MAX_BYTES = 16 * 1024 * 1024;
/** A larger entry is not remembered. */
export const MAX_ENTRY_BYTES = 64 * 1024;

/** Cached facts about tokens, by a keyed hash, each until its expiry. */
export interface Remembered<T extends object> {
  get(token: string): T | undefined;
  /** `until` in milliseconds since the epoch. */
  set(token: string, value: T, until: number): void;
}

/** Creates a store bounded in entries and bytes. The least recently used entry is evicted first. */
export function createRemembered<T extends object>(now: () => number): Remembered<T> {
  const secret = randomBytes(32);
  const entries = new LRUCache<string, T>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_ENTRY_BYTES,
    sizeCalculation: (value, key) => key.length + JSON.stringify(value).length,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    get: (token) => entries.get(keyedDigest(secret, token)),
    set(token, value, until) {
      // An entry is still valid at the end of its time to live.
      const ttl = Math.ceil(until - now()) - 1;
      if (ttl > 0) entries.set(keyedDigest(secret, token), value, { ttl });
    },
  };
}
