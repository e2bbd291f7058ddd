import { startTimer, type Logger } from '@edge-gateway/core';

/** Longest time in milliseconds that new listeners wait for what concerns have to fetch first. */
const WARM_UP_LIMIT_MS = 5000;

/** What new listeners wait for before they open. */
interface WarmUp {
  /** Adds a target to wait for; `ready` returns whether it is available. */
  hold(what: string, ready: Promise<boolean>): void;
  readonly isNeeded: boolean;
  /** Resolves when everything is there or has failed, at the latest after the limit; the log names what is missing. */
  over(): Promise<void>;
  /** Ends all waiting, now and later. */
  close(): void;
}

/** Makes one that waits for nothing yet. */
export function createWarmUp(log: Logger, limitMs = WARM_UP_LIMIT_MS): WarmUp {
  const waiting = new Map<Promise<boolean>, string>();
  const closed = Promise.withResolvers<void>();
  return {
    hold(what, ready) {
      const settled = ready.catch(() => false).finally(() => waiting.delete(settled));
      waiting.set(settled, what);
    },
    get isNeeded() {
      return waiting.size > 0;
    },
    async over() {
      const missing = new Map(waiting);
      const all = [...missing.keys()].map(async (ready) => (await ready) && missing.delete(ready));
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => (timer = startTimer(resolve, limitMs)));
      const isClosed = await Promise.race([Promise.all(all), limit, closed.promise.then(() => true)]);
      clearTimeout(timer);
      if (isClosed === true || missing.size === 0) return;
      log.warn({ without: [...missing.values()] }, 'listeners opened before warm-up completed');
    },
    close: () => closed.resolve(),
  };
}
