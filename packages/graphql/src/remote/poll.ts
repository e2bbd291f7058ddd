import { startInterval } from '@edge-gateway/core';
const DEFAULT_INTERVAL_MS = 15_000;
/** Large, so that servers that do not respond rarely delay the others. */
const MAX_CONCURRENT = 32;

/** Creates a poll of the keys that `all` returns, every 15 s by default, each at most once at a time. `ask` must not reject. */
export function createPoll<K>(
  ask: (key: K) => Promise<void>,
  all: () => Iterable<K>,
  intervalMs: number = DEFAULT_INTERVAL_MS,
) {
  const due = new Set<K>();
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    while (due.size > 0) {
      const batch = [...due];
      due.clear();
      const worker = async (): Promise<void> => {
        for (let key = batch.pop(); key !== undefined; key = batch.pop()) await ask(key);
      };
      await Promise.all(Array.from({ length: MAX_CONCURRENT }, worker));
    }
  }

  /** Polls keys now. Resolves when all that are due have been polled. */
  function start(keys: Iterable<K>): Promise<void> {
    for (const key of keys) due.add(key);
    working ??= work().finally(() => (working = undefined));
    return working;
  }

  const timer = startInterval(() => void start(all()), intervalMs);
  timer.unref();
  let closed = false;
  return {
    start,
    get closed(): boolean {
      return closed;
    },
    close(): void {
      closed = true;
      clearInterval(timer);
    },
  };
}
