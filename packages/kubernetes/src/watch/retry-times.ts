import { backoffMs, type BackoffLimits } from '@edge-gateway/core';

/** When failed attempts may be repeated. Each key has its own time, so that one that keeps failing delays no other. */
export interface RetryTimes {
  /** Notes a failure; the time until the next attempt grows with each in a row. */
  failed(key: string, atLeastMs?: number): void;
  succeeded(key: string): void;
  /** Returns the time until the next attempt; 0 if it may begin now. */
  remainingMs(key: string): number;
  /** Forgets the failures of all other keys. */
  retain(keys: ReadonlySet<string>): void;
}

/** Creates retry times without failures. */
export function createRetryTimes(limits: BackoffLimits): RetryTimes {
  const failures = new Map<string, { readonly count: number; readonly dueAt: number }>();
  return {
    failed(key, atLeastMs = 0) {
      const count = (failures.get(key)?.count ?? 0) + 1;
      const delayMs = Math.max(backoffMs(count, limits, Math.random), atLeastMs);
      failures.set(key, { count, dueAt: performance.now() + delayMs });
    },
    succeeded: (key) => void failures.delete(key),
    remainingMs: (key) => Math.max(0, (failures.get(key)?.dueAt ?? 0) - performance.now()),
    retain(keys) {
      for (const key of failures.keys()) if (!keys.has(key)) failures.delete(key);
    },
  };
}
