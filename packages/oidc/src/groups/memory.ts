import { LRUCache } from 'lru-cache';
import { createRecentErrors } from '../session/expiring.ts';
import type { Subject } from './overage.ts';

/** Maximum number of ids in total, about 64 bytes each. */
const MAX_IDS = 500_000;
const FAILED_MS = 1000;

type ReadSubject = (subject: Subject) => Promise<readonly string[]>;

/**
 * Returns the groups of a user: read once for all concurrent requests, and kept until they expire. Rejects with the failure of
 * the last read for a second.
 */
export type GroupMemory = (subject: Subject, read: ReadSubject) => Promise<readonly string[]>;

/** Creates a {@link GroupMemory}, bounded by the total number of ids: the least recently used entry is evicted first. */
export function createGroupMemory(now: () => number, maxIds = MAX_IDS): GroupMemory {
  const failed = createRecentErrors({ max: 10_000, ttlMs: FAILED_MS, now });
  const entries = new LRUCache<string, readonly string[], { readonly subject: Subject; readonly read: ReadSubject }>({
    maxSize: maxIds,
    // A user without groups takes space too.
    sizeCalculation: (groups) => groups.length + 1,
    ttlResolution: 0,
    // An entry may be evicted while it is read.
    ignoreFetchAbort: true,
    perf: { now },
    async fetchMethod(key, _stale, { options, context: { subject, read } }) {
      const error = failed.get(key);
      if (error) throw error;
      const groups = await read(subject).catch((reason: Error) => {
        failed.set(key, reason);
        throw reason;
      });
      options.ttl = Math.max(1, Math.ceil(subject.until - now()));
      return groups;
    },
  });
  return (subject, read) => entries.forceFetch(subject.key, { context: { subject, read } });
}
