import { wait } from '@edge-gateway/core';

/** Requests per second on average, and at once. */
export interface RequestLimit {
  readonly qps: number;
  readonly burst: number;
}

/** Returns a function that resolves when the next request may be sent, in the order of the calls. */
export function createRequestLimiter({ qps, burst }: RequestLimit): (signal?: AbortSignal) => Promise<void> {
  let tokens = burst;
  let last = performance.now();
  return async (signal) => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - last) / 1000) * qps) - 1;
    last = now;
    if (tokens < 0) await wait((-tokens / qps) * 1000, undefined, { signal, ref: false });
  };
}
