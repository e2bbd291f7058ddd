import { setTimeout as wait } from 'node:timers/promises';

/** Waits for a condition, at most 30 s. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the condition did not come true');
    await wait(20);
  }
}
