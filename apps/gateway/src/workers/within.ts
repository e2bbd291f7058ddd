import { startTimer } from '@edge-gateway/core';
/** Resolves when all of them have resolved, at the latest after the limit. */
export async function within(limitMs: number, all: readonly Promise<unknown>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = startTimer(resolve, limitMs)));
  await Promise.race([Promise.all(all), limit]);
  clearTimeout(timer);
}
