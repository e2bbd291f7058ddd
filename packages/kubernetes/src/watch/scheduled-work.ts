import { startTimer, type Logger } from '@edge-gateway/core';

export interface ScheduledWorkOptions {
  /** Changes within this time are one. */
  readonly collectMs: number;
  /** Work that throws runs again after this time. */
  readonly retryMs: number;
  readonly log: Logger;
  /** Runs after changes, never twice at a time. */
  work(): Promise<void>;
}

/** Work that follows changes. */
export interface ScheduledWork {
  /** Runs the work after `delayMs`, or earlier if an earlier run is scheduled; during a run, that time after its end. Default: `collectMs`. */
  schedule(delayMs?: number): void;
  /** Schedules nothing more. Resolves when the current run has ended. */
  close(): Promise<void>;
}

/**
 * Creates work that is scheduled by changes.
 *
 * @example
 * const writes = createScheduledWork({ collectMs: 50, retryMs: 5_000, log, work: async () => void ((await write()) || writes.schedule(10_000)) });
 * watch.subscribe(() => writes.schedule());
 */
export function createScheduledWork({ collectMs, retryMs, log, work }: ScheduledWorkOptions): ScheduledWork {
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Infinity;
  let working: Promise<void> | undefined;
  /** The delay of the next run, while one is going on. */
  let nextDelayMs = Infinity;
  let isClosed = false;

  function schedule(delayMs = collectMs): void {
    if (isClosed) return;
    if (working) {
      nextDelayMs = Math.min(nextDelayMs, delayMs);
      return;
    }
    const at = performance.now() + delayMs;
    if (at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = startTimer(run, delayMs);
  }

  function run(): void {
    dueAt = Infinity;
    working = attempt().finally(() => {
      working = undefined;
      const delayMs = nextDelayMs;
      nextDelayMs = Infinity;
      if (delayMs !== Infinity) schedule(delayMs);
    });
  }

  async function attempt(): Promise<void> {
    // What the work schedules at once comes after it.
    await Promise.resolve();
    try {
      await work();
    } catch (error) {
      log.error({ reason: (error as Error).message }, 'scheduled work failed');
      schedule(retryMs);
    }
  }

  return {
    schedule,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await working;
    },
  };
}
