import { setTimeout as wait } from 'node:timers/promises';

/** Longer than a call to the provider may take, and than the lock of a process that died is stored. */
export const LOCK_WAIT_MS = 9000;

/** Lets one holder at a time work on a session. */
export interface SessionLock {
  /** Gives the release, or `undefined` when it is still stored by another after `waitMs`. */
  acquire(id: string, waitMs: number): Promise<(() => Promise<void>) | undefined>;
}

/** A lock of this process only. */
export function createLocalLock(): SessionLock {
  const stored = new Map<string, Promise<void>>();
  return {
    async acquire(id, waitMs) {
      const until = Date.now() + waitMs;
      for (let other = stored.get(id); other; other = stored.get(id)) {
        const left = until - Date.now();
        if (left <= 0) return undefined;
        await Promise.race([other, wait(left, undefined, { ref: false })]);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      stored.set(id, promise);
      return async () => {
        stored.delete(id);
        resolve();
      };
    },
  };
}
