import type { SessionData, Store } from 'express-session';
import { createSweep } from './expiring.ts';

/** The part of an express-session store that a login uses. */
export type SessionStore = Pick<Store, 'get' | 'set' | 'destroy'>;

/** Sessions in memory. */
export const MAX_SESSIONS = 100_000;
/** Number of sessions that each write checks for expiry. */
const SWEPT = 10;
/** Lifetime of a session without an expiry. */
const DEFAULT_MS = 86_400_000;

interface Entry {
  readonly data: SessionData;
  readonly endsAt: number;
}

/**
 * Creates a bounded store in memory: expired sessions are removed incrementally, and beyond `max` sessions the
 * least recently written one is evicted.
 */
export function createLocalStore(now: () => number, max = MAX_SESSIONS): SessionStore & { readonly size: number } {
  const entries = new Map<string, Entry>();
  const sweep = createSweep(entries, SWEPT, (id, { endsAt }) => {
    if (endsAt <= now()) entries.delete(id);
  });
  return {
    get size() {
      return entries.size;
    },
    get(id, done) {
      const entry = entries.get(id);
      const isEnded = entry !== undefined && entry.endsAt <= now();
      if (isEnded) entries.delete(id);
      queueMicrotask(() => done(undefined, entry && !isEnded ? entry.data : null));
    },
    set(id, data, done) {
      const { expires } = data.cookie;
      entries.delete(id);
      entries.set(id, { data, endsAt: expires ? new Date(expires).getTime() : now() + DEFAULT_MS });
      sweep();
      if (entries.size > max) entries.delete(entries.keys().next().value!);
      if (done) queueMicrotask(done);
    },
    destroy(id, done) {
      entries.delete(id);
      if (done) queueMicrotask(done);
    },
  };
}
