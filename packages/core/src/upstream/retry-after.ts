import { parseDuration } from '../syntax/duration.ts';
import type { Retries } from '../schema/route/retries.ts';

/** Returns the value of a response header by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

type BackOff = NonNullable<Retries['rateLimitedRetryBackOff']>;

const DEFAULT_MAX_MS = 300_000;
const DIGITS = /^\d{1,15}$/;

/**
 * Compiles `rateLimitedRetryBackOff`: returns a function that reads the delay from the first header with a usable time.
 * A time above the maximum is ignored, as is one in the past.
 */
export function compileResetHeaders(backOff: BackOff | undefined): (header: HeaderReader) => number | undefined {
  const headers = (backOff?.resetHeaders ?? []).map(({ name = '', format }) => ({
    name: name.toLowerCase(),
    isDate: format === 'UNIX_TIMESTAMP',
  }));
  if (headers.length === 0) return () => undefined;
  const maxMs = backOff?.maxInterval === undefined ? DEFAULT_MAX_MS : parseDuration(backOff.maxInterval);
  return (header) => {
    for (const { name, isDate } of headers) {
      const value = header(name);
      if (value === undefined || !DIGITS.test(value)) continue;
      const seconds = isDate ? Number(value) - Math.floor(Date.now() / 1000) : Number(value);
      if (seconds <= 0 || seconds * 1000 > maxMs) continue;
      // Clients that received the same time must not retry at the same moment.
      return seconds * 1000 * (1 + Math.random() / 2);
    }
    return undefined;
  };
}
