import type { Logger } from '../observe/logger.ts';
import type { Counter } from '../observe/metrics.ts';
import { backoffMs } from '../time/backoff.ts';
import { createFileLock, FileInUse } from './file-lock.ts';
import { startTimer } from '../time/timer.ts';

const MAX_RETRY_MS = 60_000;
/** Maximum pause after a write that took long, in milliseconds. */
const MAX_PAUSE_MS = 10_000;
/** Maximum time that closing waits for a write, in milliseconds. */
const CLOSE_MS = 2000;

/** Options of {@link createScheduledWriter}. */
export interface ScheduledWriterOptions<T> {
  /** Of the file, which no other process writes meanwhile. */
  readonly path: string;
  /** Time from a change to its write, in milliseconds; only the newest value is written. */
  readonly delayMs: number;
  /** The same for the first write. Default: `delayMs`. */
  readonly firstDelayMs?: number;
  /** Time before a failed write is tried again, in milliseconds; it doubles with each further failure, up to one minute. */
  readonly retryMs: number;
  /**
   * Share of the time that writes may take, above 0 up to 1: after a long write, the next one waits longer than `delayMs`, but at most ten seconds.
   * Default: 1.
   */
  readonly maxShare?: number;
  write(value: T): Promise<void>;
  readonly log: Logger;
  readonly level: 'warn' | 'error';
  /** Messages of the log. */
  readonly texts: { readonly failed: string; readonly again: string };
  readonly failures: Counter;
}

/** Writes the newest value, one write at a time. */
export interface ScheduledWriter<T> {
  /** Schedules a write. */
  write(value: T): void;
  /** Writes the pending value immediately; resolves when the write has finished or failed, at the latest after two seconds. */
  close(): Promise<void>;
}

/** Creates a writer. A failed write, also while another process writes the file, is retried with exponential backoff, and logged when its reason differs from that of the last one. */
export function createScheduledWriter<T>(options: ScheduledWriterOptions<T>): ScheduledWriter<T> {
  const { path, delayMs, firstDelayMs = delayMs, retryMs, maxShare = 1, log, level, texts, failures } = options;
  const lock = createFileLock(path);
  let due: { readonly value: T } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let lastFailure = '';
  let isFirst = true;
  /** Consecutive failed writes. */
  let failed = 0;
  /** Time before which no write begins. */
  let pausedUntil = 0;

  async function writeDue(): Promise<void> {
    const next = due;
    due = undefined;
    if (!next) return;
    try {
      await lock.acquire().catch((error: unknown) => {
        // Whatever prevents acquiring the lock also prevents the write, or is harmless.
        if (error instanceof FileInUse) throw error;
      });
      const began = performance.now();
      await options.write(next.value);
      const ended = performance.now();
      pausedUntil = ended + Math.min((ended - began) * (1 / maxShare - 1), MAX_PAUSE_MS);
      if (failed > 0) log.info({ file: path }, texts.again);
      lastFailure = '';
      failed = 0;
    } catch (error) {
      failures.value++;
      failed++;
      due ??= next;
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code ?? message;
      if (reason !== lastFailure) log[level]({ file: path, reason }, texts.failed);
      lastFailure = reason;
    }
  }

  function schedule(): void {
    if (timer) return;
    const delay = isFirst ? firstDelayMs : delayMs;
    isFirst = false;
    timer = startTimer(
      () => {
        writing = writeDue().finally(() => {
          timer = undefined;
          if (due) schedule();
        });
      },
      failed === 0
        ? Math.max(delay, pausedUntil - performance.now())
        : backoffMs(failed, { firstMs: retryMs, maxMs: Math.max(retryMs, MAX_RETRY_MS) }),
    );
    timer.unref();
  }

  async function finish(): Promise<void> {
    clearTimeout(timer);
    await writing;
    clearTimeout(timer);
    await writeDue();
    await lock.release().catch(() => {});
  }

  return {
    write(value) {
      due = { value };
      schedule();
    },
    async close() {
      let limit: NodeJS.Timeout | undefined;
      const isLate = new Promise<void>((resolve) => (limit = setTimeout(resolve, CLOSE_MS)));
      // A file system that does not respond must not delay the stop.
      await Promise.race([finish(), isLate]).finally(() => clearTimeout(limit));
    },
  };
}
