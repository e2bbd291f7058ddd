import { setTimeout as wait } from 'node:timers/promises';

/** Delays between attempts. */
export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Without a failure for so long, the next delay is the first again. */
  readonly resetMs: number;
}

export interface Backoff {
  /** Waits before the next attempt, longer each time, and at least `atLeastMs`. Rejects when the signal aborts. */
  pause(signal: AbortSignal, atLeastMs?: number): Promise<void>;
}

/** Creates a back-off that doubles, with jitter: a delay is between half of it and all of it, so that clients do not return together. */
export function createBackoff({ firstMs, maxMs, resetMs }: BackoffLimits): Backoff {
  let attempt = 0;
  let last = performance.now();
  return {
    async pause(signal, atLeastMs = 0) {
      const now = performance.now();
      if (now - last > resetMs) attempt = 0;
      const full = Math.min(maxMs, firstMs * 2 ** attempt);
      attempt = Math.min(attempt + 1, 30);
      const delay = Math.max(full / 2 + (Math.random() * full) / 2, atLeastMs);
      last = now + delay;
      await wait(delay, undefined, { signal });
    },
  };
}
