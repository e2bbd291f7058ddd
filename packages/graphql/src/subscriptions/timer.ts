import { MAX_DELAY_MS } from '@edge-gateway/core';

/** Starts a timer for a limit in milliseconds; none for 0. */
export function timerOf(ms: number, over: () => void): NodeJS.Timeout | undefined {
  return ms === 0 ? undefined : setTimeout(over, Math.min(ms, MAX_DELAY_MS));
}
