import { MAX_DELAY_MS, parseDuration } from '@edge-gateway/core';

/** A written duration as timers take it: whole milliseconds, at most 24 days. `undefined` where none or 0 is written. */
export function delayMs(written: string | undefined): number | undefined {
  const ms = written === undefined ? 0 : Math.ceil(parseDuration(written));
  return ms === 0 ? undefined : Math.min(ms, MAX_DELAY_MS);
}
