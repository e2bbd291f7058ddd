import { startInterval, wait, randomToken } from '@edge-gateway/core';
import type { SessionLock } from './session-lock.ts';
import type { StoreEntries } from './store-entries.ts';

/** A lock expires after this time unless its holder extends it, by the clock of either process. */
const LOCK_MS = 7000;
const POLL_MS = 50;
/** Minimum time in which the write of another process becomes visible. */
const SETTLE_MS = 50;

/** The text of a lock of another holder, and since when, on a monotonic clock. */
interface Seen {
  text: string | undefined;
  at: number;
}

/**
 * Creates a lock that all processes on one store share. A store of a program has no atomic operations, so a process writes its
 * name, waits for longer than such a write takes, and holds the lock if the store still has its name: of several processes, the last one.
 * A process that stalls in between may hold the lock together with another one; the work must tolerate that.
 */
export function createStoreLock(entries: StoreEntries, lockMs = LOCK_MS): SessionLock {
  const isHeldBy = async (key: string, owner: string): Promise<boolean> =>
    (await entries.read(key))?.startsWith(owner) === true;

  /** Returns true if the lock is held now. A text that stays the same is of a dead holder, whose clock may have been ahead. */
  async function take(key: string, owner: string, seen: Seen): Promise<boolean> {
    const startedAt = performance.now();
    const text = await entries.read(key);
    if (text !== seen.text) Object.assign(seen, { text, at: startedAt });
    if (text !== undefined && startedAt - seen.at < lockMs) return false;
    await entries.write(key, owner, lockMs);
    await wait(Math.max(SETTLE_MS, 2 * (performance.now() - startedAt)));
    return isHeldBy(key, owner);
  }

  function hold(key: string, owner: string): () => Promise<void> {
    let extension: Promise<unknown> = Promise.resolve();
    let extensions = 0;
    const extend = async (): Promise<void> => {
      if (await isHeldBy(key, owner)) await entries.write(key, `${owner} ${++extensions}`, lockMs);
    };
    const timer = startInterval(() => (extension = extension.then(extend).catch(() => {})), lockMs / 3).unref();
    return async () => {
      clearInterval(timer);
      // An extension that is written later would lock the session again.
      await extension;
      // If this fails, the lock expires.
      if (await isHeldBy(key, owner).catch(() => false)) await entries.remove(key).catch(() => {});
    };
  }

  return {
    async acquire(id, waitMs) {
      const key = `lock ${id}`;
      const owner = randomToken();
      const until = performance.now() + waitMs;
      const seen: Seen = { text: undefined, at: 0 };
      while (!(await take(key, owner, seen))) {
        if (performance.now() >= until) return undefined;
        await wait(POLL_MS);
      }
      return hold(key, owner);
    },
  };
}
