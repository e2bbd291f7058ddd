import { setTimeout as wait } from 'node:timers/promises';

/** Longer than a call to the provider may take, and than the lock of a process that died is held. */
export const LOCK_WAIT_MS = 9000;

/** Lets one holder at a time work on a session. */
export interface SessionLock {
  /** Gives the release, or `undefined` when it is still held by another after `waitMs`. */
  acquire(id: string, waitMs: number): Promise<(() => Promise<void>) | undefined>;
}

/** A lock of this process only. */
export function createLocalLock(): SessionLock {
  const held = new Map<string, Promise<void>>();
  return {
    async acquire(id, waitMs) {
      const until = Date.now() + waitMs;
      for (let other = held.get(id); other; other = held.get(id)) {
        const left = until - Date.now();
        if (left <= 0) return undefined;
        await Promise.race([other, wait(left, undefined, { ref: false })]);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(id, promise);
      return async () => {
        held.delete(id);
        resolve();
      };
    },
  };
}
