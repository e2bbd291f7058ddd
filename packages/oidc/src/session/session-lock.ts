import { wait } from '@edge-gateway/core';

/** Longer than a call to the provider, and than the lock of a dead process. */
export const LOCK_WAIT_MS = 9000;

/** Lets one holder at a time work on a session. */
export interface SessionLock {
  /** Returns the function that releases the lock; `undefined` if another holder still has it after `waitMs`. */
  acquire(id: string, waitMs: number): Promise<(() => Promise<void>) | undefined>;
}

/** Creates a lock of this process only. */
export function createLocalLock(): SessionLock {
  const locks = new Map<string, Promise<void>>();
  return {
    async acquire(id, waitMs) {
      const until = performance.now() + waitMs;
      for (let other = locks.get(id); other; other = locks.get(id)) {
        const left = until - performance.now();
        if (left <= 0) return undefined;
        await Promise.race([other, wait(left, undefined, { ref: false })]);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      locks.set(id, promise);
      return async () => {
        locks.delete(id);
        resolve();
      };
    },
  };
}
