import { backoffMs, type BackoffLimits, wait } from '@edge-gateway/core';

/** Delays between attempts. */
export interface PauseLimits extends BackoffLimits {
  /** Without a failure for so long, the next delay is the first again. */
  readonly resetMs: number;
}

export interface Backoff {
  /** Waits before the next attempt, longer each time, and at least `atLeastMs`. Rejects when the signal aborts. */
  pause(signal: AbortSignal, atLeastMs?: number): Promise<void>;
}

/** Creates a back-off that doubles, with jitter, and forgets failures after a while. */
export function createBackoff(limits: PauseLimits): Backoff {
  let failures = 0;
  let last = performance.now();
  return {
    async pause(signal, atLeastMs = 0) {
      const now = performance.now();
      if (now - last > limits.resetMs) failures = 0;
      failures += 1;
      const delay = Math.max(backoffMs(failures, limits, Math.random), atLeastMs);
      last = now + delay;
      await wait(delay, undefined, { signal });
    },
  };
}
