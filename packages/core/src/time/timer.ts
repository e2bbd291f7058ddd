import { setTimeout as waitShort } from 'node:timers/promises';

/** Maximum delay of a Node timer, in milliseconds. A longer one would expire after 1 ms. */
export const MAX_DELAY_MS = 2 ** 31 - 1;
/** Delays beyond about 30,000 years, also infinite ones, are those of this length. */
const FOREVER_MS = 1e15;

/** Returns into how many equal parts a delay is divided. */
const partsOf = (delayMs: number): number => Math.ceil(Math.min(delayMs, FOREVER_MS) / MAX_DELAY_MS);

/**
 * Calls `run` once after a delay of any length, in milliseconds. Returns a timer for `clearTimeout`.
 *
 * @example
 * const timer = startTimer(() => reload(), parseDuration('720h'));
 */
export function startTimer(run: () => void, delayMs: number): NodeJS.Timeout;
export function startTimer<T>(run: (arg: T) => void, delayMs: number, arg: T): NodeJS.Timeout;
export function startTimer<T>(run: (arg?: T) => void, delayMs: number, arg?: T): NodeJS.Timeout {
  if (!(delayMs > MAX_DELAY_MS)) return setTimeout(run, delayMs, arg);
  const parts = partsOf(delayMs);
  let left = parts;
  const timer = setTimeout(
    () => {
      // The same timer goes on, so that its owner can still clear it.
      if (--left > 0) timer.refresh();
      else run(arg);
    },
    Math.min(delayMs, FOREVER_MS) / parts,
  );
  return timer;
}

/**
 * Returns the delay for a timer that Node or a library starts, such as that of a socket or server: the only durations that are cut, to 24.8 days.
 * Node adds a second to the idle time of a server.
 */
export function nodeDelay(delayMs: number): number {
  return Math.min(delayMs, MAX_DELAY_MS - 1000);
}

/** Calls `run` at intervals of any length, in milliseconds. Returns a timer for `clearInterval`. */
export function startInterval(run: () => void, intervalMs: number): NodeJS.Timeout {
  if (!(intervalMs > MAX_DELAY_MS)) return setInterval(run, intervalMs);
  const parts = partsOf(intervalMs);
  let left = parts;
  const pass = (): void => {
    if (--left > 0) return;
    left = parts;
    run();
  };
  return setInterval(pass, Math.min(intervalMs, FOREVER_MS) / parts);
}

/** Resolves with `value` after a delay of any length, in milliseconds. Rejects with an `AbortError` when `signal` is aborted. */
export async function wait<T = void>(
  delayMs: number,
  value?: T,
  options: { readonly signal?: AbortSignal | undefined; readonly ref?: boolean } = {},
): Promise<T> {
  const { signal, ref = true } = options;
  const parts = { ref, ...(signal && { signal }) };
  let left = delayMs;
  for (; left > MAX_DELAY_MS; left -= MAX_DELAY_MS) await waitShort(MAX_DELAY_MS, undefined, parts);
  return waitShort(left, value, parts) as Promise<T>;
}

/** Returns a signal that is aborted with a `TimeoutError` after a time of any length, in milliseconds. Its timer does not keep the process alive. */
export function timeoutSignal(timeoutMs: number): AbortSignal {
  if (!(timeoutMs > MAX_DELAY_MS)) return AbortSignal.timeout(timeoutMs);
  const controller = new AbortController();
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  startTimer(() => controller.abort(late), timeoutMs).unref();
  return controller.signal;
}
