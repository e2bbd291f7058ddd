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
