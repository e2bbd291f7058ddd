import type { Counter } from '@edge-gateway/core';
import type { Sinks } from './sinks.ts';

/** What happens to the lines of an access log whose reader is too slow. */
export type AccessLogOverflow = 'drop' | 'block';

/** Longest delay of a request, in milliseconds. */
export const MAX_HOLD_MS = 5_000;
const CHECK_MS = 100;

/** Delays new requests while the reader of an access log is too slow. */
export type BackPressure = ReturnType<typeof createBackPressure>;

interface Held {
  readonly begin: () => void;
  readonly until: number;
}

/** Creates the {@link BackPressure} of these sinks; `held` counts the delayed requests. */
export function createBackPressure(sinks: Sinks, held: Counter) {
  const waiting: Held[] = [];
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    const now = sinks.isBehind ? performance.now() : Infinity;
    const first = waiting.findIndex(({ until }) => until > now);
    const released = waiting.splice(0, first < 0 ? waiting.length : first);
    if (waiting.length === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    for (const { begin } of released) begin();
  }

  sinks.onProgress = () => {
    if (waiting.length > 0) check();
  };
  return {
    get isBehind() {
      return sinks.isBehind;
    },
    /** Calls `begin` when the access logs keep up again, or after five seconds. */
    hold(begin: () => void): void {
      held.value++;
      waiting.push({ begin, until: performance.now() + MAX_HOLD_MS });
      timer ??= setInterval(check, CHECK_MS);
    },
  };
}
