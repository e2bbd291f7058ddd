import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** Time in milliseconds between two checks. */
const CHECK_MS = 100;
/** From these delays on, a check is a miss, and a large one; the defaults of Envoy. */
const MISS_MS = 200;
const MEGA_MISS_MS = 1_000;

/** Options of {@link createWatchdog}. */
export interface WatchdogOptions {
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Threads with the same name share their statistics. */
  readonly thread: 'main_thread' | 'workers';
  /** The clock, in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/**
 * Counts how often the event loop of this process was blocked, as `<thread>.watchdog_miss` for at least 200 ms and
 * `<thread>.watchdog_mega_miss` for at least a second, which it also logs. Nothing is served while it is blocked.
 *
 * @example
 * const watchdog = createWatchdog({ metrics, log: log.get('main'), thread: 'main_thread' });
 */
export function createWatchdog(options: WatchdogOptions): { close(): void } {
  const { metrics, log, thread, now: clock = () => performance.now() } = options;
  const counter = (name: string) => metrics.counter({ path: `${thread}.${name}`, metric: `envoy_${thread}_${name}` });
  const misses = counter('watchdog_miss');
  const megaMisses = counter('watchdog_mega_miss');
  let expectedAt = clock() + CHECK_MS;
  const timer = setInterval(() => {
    const now = clock();
    const blockedMs = now - expectedAt;
    expectedAt = now + CHECK_MS;
    if (blockedMs >= MISS_MS) misses.value++;
    if (blockedMs < MEGA_MISS_MS) return;
    megaMisses.value++;
    log.warn({ blockedMs: Math.round(blockedMs) }, 'event loop was blocked');
  }, CHECK_MS).unref();
  return { close: () => clearInterval(timer) };
}
