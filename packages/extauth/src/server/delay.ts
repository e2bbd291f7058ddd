import { MAX_DELAY_MS, parseDuration } from '@edge-gateway/core';

/** Converts a duration to whole milliseconds for timers, at most 24 days. Returns `undefined` for none or 0. */
export function delayMs(written: string | undefined): number | undefined {
  const ms = written === undefined ? 0 : Math.ceil(parseDuration(written));
  return ms === 0 ? undefined : Math.min(ms, MAX_DELAY_MS);
}
