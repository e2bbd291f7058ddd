import { setTimeout as wait } from 'node:timers/promises';

/** Waits for a condition, at most 10 s. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('the condition did not come true');
    await wait(20);
  }
}
