/** Delay before a worker is replaced that ended soon after its start; doubled each time. */
const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 30_000;
/** A worker that ran for this long is replaced at once. */
const STABLE_MS = 10_000;

/** Returns how often in a row a worker has ended soon after its start, and the delay before it is replaced, in milliseconds. */
export function restartAfter(
  failuresBefore: number,
  ranMs: number,
): { readonly failures: number; readonly delayMs: number } {
  if (ranMs >= STABLE_MS) return { failures: 0, delayMs: 0 };
  const failures = failuresBefore + 1;
  return { failures, delayMs: Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LAST_DELAY_MS) };
}
