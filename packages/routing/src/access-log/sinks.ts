import { createLineSink, type Context, type Counter, type LineSink } from '@edge-gateway/core';

/** Every open sink, by path. They outlive reloads. */
export interface Sinks {
  get(path: string): LineSink;
  /** True if the reader of a sink is too slow, but not if it has stalled. */
  readonly isBehind: boolean;
  /** Called after each write of any sink. */
  onProgress: () => void;
  /** Writes out what is queued and closes the files. */
  close(): Promise<void>;
}

/** Maximum number of queued bytes; beyond it lines are dropped and counted. */
export const MAX_QUEUE = 16 * 1024 * 1024;
/** Number of queued bytes from which the reader counts as too slow. The rest is reserved for requests in progress. */
export const SLOW_READER_BYTES = 1024 * 1024;

/** Creates the sinks of one data plane. A file error is logged once per incident and never affects a request. */
export function createSinks({ log, metrics }: Pick<Context, 'log' | 'metrics'>): Sinks {
  const sinks = new Map<string, LineSink>();
  const logger = log.get('http');
  const open = (path: string): LineSink =>
    createLineSink(path, {
      maxQueue: MAX_QUEUE,
      dropped: droppedLines(metrics, path),
      onFailure: (reason) => logger.warn({ path, reason }, 'access log write failed'),
      onDropped: (dropped) => logger.warn({ path, dropped }, 'access log lines dropped'),
      onProgress: () => all.onProgress(),
    });
  const all: Sinks = {
    get(path) {
      let sink = sinks.get(path);
      if (!sink) sinks.set(path, (sink = open(path)));
      return sink;
    },
    get isBehind() {
      for (const sink of sinks.values()) if (sink.queued > SLOW_READER_BYTES && !sink.stalled) return true;
      return false;
    },
    onProgress() {},
    async close() {
      await Promise.all([...sinks.values()].map((sink) => sink.close()));
      sinks.clear();
    },
  };
  return all;
}

function droppedLines(metrics: Context['metrics'], path: string): Counter {
  const labels = { path };
  const name = path.replaceAll(/[^A-Za-z0-9_-]+/g, '_');
  return metrics.counter({ path: `access_log.${name}.lines_dropped`, metric: 'access_log_lines_dropped', labels });
}
