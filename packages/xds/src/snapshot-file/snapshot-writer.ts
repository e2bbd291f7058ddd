import { createScheduledWriter, type Logger, type Metrics, type ScheduledWriter } from '@edge-gateway/core';
import { writeSnapshotFile, type SavedState } from './snapshot-file.ts';

/** Minimum time between two writes, in milliseconds. */
const INTERVAL_MS = 1000;
/** Under continuous changes, writing takes about this share of the time, or more if a write takes very long. */
const MAX_SHARE = 0.02;

/** Options of {@link createSnapshotWriter}. */
export interface SnapshotWriterOptions {
  readonly path: string;
  /** Encrypts the secrets, and authenticates the file. Default: the secrets are omitted. */
  readonly key?: Uint8Array | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: 1,000. */
  readonly intervalMs?: number;
}

/** Writes accepted states into a file. A state is read at the time of the write. */
export type SnapshotWriter = ScheduledWriter<() => Omit<SavedState, 'secrets'>>;

/** Creates a writer. Each write replaces the file atomically; only its owner can read it. After a long write, the next one waits for up to ten seconds. */
export function createSnapshotWriter(options: SnapshotWriterOptions): SnapshotWriter {
  const { path, key, log, metrics, intervalMs = INTERVAL_MS } = options;
  const failures = metrics.counter({
    path: 'control_plane.snapshot_file_write_failures',
    metric: 'envoy_control_plane_snapshot_file_write_failures',
  });
  return createScheduledWriter({
    path,
    delayMs: intervalMs,
    retryMs: intervalMs,
    maxShare: MAX_SHARE,
    write: (read) => writeSnapshotFile(path, read(), key),
    log,
    level: 'error',
    texts: { failed: 'failed to write snapshot file', again: 'snapshot file written again' },
    failures,
  });
}
