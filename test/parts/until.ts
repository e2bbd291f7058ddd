import { setTimeout as wait } from 'node:timers/promises';

/** Enough for a loaded machine, and half of what a test has. */
const LIMIT_SECONDS = 90;

/** Waits until a check holds, and resolves with its value. Throws if it does not hold in time. */
export async function until<T>(check: () => Promise<T> | T, what = String(check), seconds = LIMIT_SECONDS): Promise<T> {
  const giveUp = performance.now() + 1000 * seconds;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (performance.now() > giveUp) throw new Error(`not within ${seconds} s: ${what}`);
    await wait(5);
  }
}

/** How long a value must stay the same to count as still: longer than other processes keep a busy machine from running this one. */
const STILL_MS = 250;

/** Waits until a number has stopped changing, e.g. that of the bytes that fit into the buffers of a connection. */
export async function untilStill(read: () => number): Promise<void> {
  let before = Number.NaN;
  let since = 0;
  await until(() => {
    const now = performance.now();
    const value = read();
    if (value !== before) since = now;
    before = value;
    return now - since >= STILL_MS;
  });
}
