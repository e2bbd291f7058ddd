import { LRUCache } from 'lru-cache';

/** Maximum number of ids in total, about 64 bytes each. */
const MAX_IDS = 500_000;

/** Groups by user, bounded by their total number. */
export interface GroupMemory {
  get(key: string): readonly string[] | undefined;
  /** `until` in milliseconds since the epoch. */
  set(key: string, groups: readonly string[], until: number): void;
}

/** Creates a {@link GroupMemory}: the least recently used entry is evicted first. */
export function createGroupMemory(now: () => number, maxIds = MAX_IDS): GroupMemory {
  const entries = new LRUCache<string, readonly string[]>({
    maxSize: maxIds,
    // A user without groups takes space too.
    sizeCalculation: (groups) => groups.length + 1,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    get: (key) => entries.get(key),
    set: (key, groups, until) => void entries.set(key, groups, { ttl: Math.max(1, Math.ceil(until - now())) }),
  };
}
