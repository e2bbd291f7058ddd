import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger, Metrics } from '@edge-gateway/core';
import { createFolder } from './create-folder.ts';
import { formatSnapshotFile, type SavedState } from './snapshot-file.ts';

/** Minimum time between two writes, in milliseconds; only the newest state is written. */
const INTERVAL_MS = 1000;
/** Maximum time between two attempts after failures, in milliseconds. */
const MAX_INTERVAL_MS = 60_000;
/** Maximum time that closing waits for a write, in milliseconds. */
const CLOSE_MS = 2000;

/** Options of {@link createSnapshotWriter}. */
export interface SnapshotWriterOptions {
  readonly path: string;
  /** Encrypts the secrets. Default: they are omitted. */
  readonly key?: Uint8Array | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: 1,000. */
  readonly intervalMs?: number;
}

/** Writes accepted states into a file. */
export interface SnapshotWriter {
  /** Schedules a write; only the newest state is written. `read` is called at that time. */
  write(read: () => Omit<SavedState, 'secrets'>): void;
  /** Writes the pending state immediately; resolves when the write has finished or failed, at the latest after two seconds. */
  close(): Promise<void>;
}

/**
 * Creates a writer. Each write replaces the file atomically; only its owner can read it. A failed write is retried with exponential backoff, and logged when
 * its reason differs from that of the last one.
 */
export function createSnapshotWriter(options: SnapshotWriterOptions): SnapshotWriter {
  const { path, key, log, intervalMs = INTERVAL_MS } = options;
  const stat = (name: string) => ({
    path: `control_plane.snapshot_file_${name}`,
    metric: `envoy_control_plane_snapshot_file_${name}`,
  });
  const failures = options.metrics.counter(stat('write_failures'));
  let due: (() => Omit<SavedState, 'secrets'>) | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let lastFailure = '';
  /** Consecutive failed writes. */
  let failed = 0;

  async function writeDue(): Promise<void> {
    const read = due;
    due = undefined;
    if (!read) return;
    try {
      await replaceFile(path, formatSnapshotFile(read(), key));
      if (failed > 0) log.info({ file: path }, 'snapshot file written again');
      lastFailure = '';
      failed = 0;
    } catch (error) {
      failures.value++;
      failed++;
      due ??= read;
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code ?? message;
      if (reason !== lastFailure) log.error({ file: path, reason }, 'failed to write snapshot file');
      lastFailure = reason;
    }
  }

  function schedule(): void {
    if (timer) return;
    timer = setTimeout(() => {
      writing = writeDue().finally(() => {
        timer = undefined;
        if (due) schedule();
      });
    }, delayMs());
    timer.unref();
  }

  function delayMs(): number {
    return Math.min(intervalMs * 2 ** Math.min(failed, 10), Math.max(intervalMs, MAX_INTERVAL_MS));
  }

  async function finish(): Promise<void> {
    clearTimeout(timer);
    await writing;
    clearTimeout(timer);
    await writeDue();
  }

  return {
    write(read) {
      due = read;
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

/** Syncs the content to disk before the rename. */
async function replaceFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await createFolder(folder);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    // Left behind by a process that was killed. A link of this name must not be followed.
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.chmod(0o600);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const parent = await open(folder, 'r');
  await parent.sync().finally(() => parent.close());
}
