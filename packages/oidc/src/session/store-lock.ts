import { startInterval, wait, randomToken } from '@edge-gateway/core';
import type { SessionLock } from './session-lock.ts';
import type { StoreEntries } from './store-entries.ts';

/** A lock expires after this time unless its holder extends it. */
const LOCK_MS = 7000;
const POLL_MS = 50;
/** Minimum time in which the write of another process becomes visible. */
const SETTLE_MS = 50;

/**
 * Creates a lock that all processes on one store share. A store of a program has no atomic operations, so a process writes its
 * name, waits for longer than such a write takes, and holds the lock if the store still has its name: of several processes, the last one.
 * A process that stalls in between may hold the lock together with another one; the work must tolerate that.
 */
export function createStoreLock(entries: StoreEntries, lockMs = LOCK_MS): SessionLock {
  /** Returns true if the lock is held now. */
  async function take(key: string, owner: string): Promise<boolean> {
    const startedAt = performance.now();
    if ((await entries.read(key)) !== undefined) return false;
    await entries.write(key, owner, lockMs);
    await wait(Math.max(SETTLE_MS, 2 * (performance.now() - startedAt)));
    return (await entries.read(key)) === owner;
  }

  function hold(key: string, owner: string): () => Promise<void> {
    let extension: Promise<unknown> = Promise.resolve();
    const extend = async (): Promise<void> => {
      if ((await entries.read(key)) === owner) await entries.write(key, owner, lockMs);
    };
    const timer = startInterval(() => (extension = extension.then(extend).catch(() => {})), lockMs / 3).unref();
    return async () => {
      clearInterval(timer);
      // An extension that is written later would lock the session again.
      await extension;
      // If this fails, the lock expires.
      if ((await entries.read(key).catch(() => undefined)) === owner) await entries.remove(key).catch(() => {});
    };
  }

  return {
    async acquire(id, waitMs) {
      const key = `lock ${id}`;
      const owner = randomToken();
      const until = performance.now() + waitMs;
      while (!(await take(key, owner))) {
        if (performance.now() >= until) return undefined;
        await wait(POLL_MS);
      }
      return hold(key, owner);
    },
  };
}
