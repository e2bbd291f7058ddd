/** Polls keys at an interval, and when asked to: each key at most once at a time. */
export interface Poll<K> {
  /** Polls keys now. Resolves when all that are due have been polled. */
  start(keys: Iterable<K>): Promise<void>;
  readonly closed: boolean;
  close(): void;
}

const DEFAULT_INTERVAL_MS = 15_000;
const MAX_CONCURRENT = 8;

/** Creates a poll of the keys that `all` returns, every 15 s by default. `ask` must not reject. */
export function createPoll<K>(
  ask: (key: K) => Promise<void>,
  all: () => Iterable<K>,
  intervalMs: number = DEFAULT_INTERVAL_MS,
): Poll<K> {
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

  function start(keys: Iterable<K>): Promise<void> {
    for (const key of keys) due.add(key);
    working ??= work().finally(() => (working = undefined));
    return working;
  }

  const timer = setInterval(() => void start(all()), intervalMs);
  timer.unref();
  let closed = false;
  return {
    start,
    get closed() {
      return closed;
    },
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}
