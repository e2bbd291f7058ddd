import type { LogDetails, Logger } from './logger.ts';

/** Maximum lines about rejected requests per second and logger. Clients cause them, and each costs more than the rejection itself. */
const MAX_LINES = 20;
const WINDOW_MS = 1_000;

interface Window {
  readonly start: number;
  lines: number;
  omitted: number;
}

const windows = new WeakMap<Logger, Window>();

/**
 * Writes a line about a rejected request: at most 20 per second for each logger. One more line has the number of omitted ones. `now` is a
 * monotonic time in milliseconds.
 */
export function logRejection(log: Logger, details: LogDetails, message: string, now = performance.now()): void {
  let window = windows.get(log);
  if (!window || now - window.start >= WINDOW_MS) {
    window = { start: now, lines: 0, omitted: 0 };
    windows.set(log, window);
  }
  if (window.lines < MAX_LINES) {
    window.lines++;
    return log.info(details, message);
  }
  if (window.omitted++ === 0) setTimeout(reportOmitted, WINDOW_MS, log, window).unref();
}

function reportOmitted(log: Logger, { omitted }: Window): void {
  log.info({ omitted }, 'rejected requests omitted from log');
}
