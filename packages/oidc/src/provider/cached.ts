import { LRUCache } from 'lru-cache';

/** Minimum time between a failed fetch and the next one. */
const COOL_DOWN_MS = 1000;

/**
 * Returns a function that returns a value: fetched at first use, once for all concurrent callers. `maxAgeMs` after a fetch it
 * returns the old value at once, while a new one is fetched. Rejects if the first fetch fails.
 */
export function createCached<T extends {}>(
  fetchValue: () => Promise<T>,
  { maxAgeMs, now }: { readonly maxAgeMs: number; readonly now: () => number },
): () => Promise<T> {
  let failed: { readonly error: unknown; readonly at: number } | undefined;
  const values = new LRUCache<'value', T>({
    max: 1,
    // Whole milliseconds, and 0 would mean that values stay fresh.
    ttl: Math.max(1, Math.ceil(maxAgeMs)),
    ttlResolution: 0,
    perf: { now },
    allowStale: true,
    noDeleteOnFetchRejection: true,
    async fetchMethod() {
      // The clock may have been set back since.
      if (failed && Math.abs(now() - failed.at) < COOL_DOWN_MS) throw failed.error;
      return fetchValue().catch((error: unknown) => {
        failed = { error, at: now() };
        throw error;
      });
    },
  });
  return () => values.forceFetch('value');
}
