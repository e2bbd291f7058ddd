/** Bounds of {@link backoffMs}, in milliseconds. */
export interface BackoffLimits {
  /** After the first failure. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Returns the time before the next attempt after consecutive failures: it doubles with each one up to `maxMs`. With `random`, which returns numbers from 0 up
 * to 1, the result is between one half of that time and all of it, so that clients that failed together do not return together.
 */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffLimits, random?: () => number): number {
  const longest = Math.min(firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 30), maxMs);
  return random ? longest * (0.5 + random() / 2) : longest;
}
