import { createBatches, type Batches } from '../collect/batches.ts';
import type { CollectorParts } from '../collect/collectors.ts';

/** Maximum number of queued log entries; beyond it they are dropped and counted. */
const MAX_QUEUED_ENTRIES = 16_384;
const BATCH_SIZE = 256;
const INTERVAL_MS = 1_000;

/** Creates the batches of a log; `name` is that of its server in logs and statistics. */
export function createLogBatches<T>(
  { context }: CollectorParts,
  name: string,
  send: (entries: readonly T[]) => Promise<void>,
): Batches<T> {
  const labels = { path: name };
  const path = `access_log.${name.replaceAll(/[^A-Za-z0-9_-]+/g, '_')}.lines_dropped`;
  const log = context.log.get('http');
  return createBatches({
    send,
    dropped: context.metrics.counter({ path, metric: 'access_log_lines_dropped', labels }),
    onFailure: (reason) => log.warn({ collector: name, reason }, 'access log entries could not be sent'),
    maxQueued: MAX_QUEUED_ENTRIES,
    batchSize: BATCH_SIZE,
    intervalMs: INTERVAL_MS,
  });
}
