import type { Loggers } from '@edge-gateway/core';

/** How long the same line of another worker is not repeated, in milliseconds. */
const SAME_MS = 10_000;
const MAX_KEPT = 1_000;

interface Written {
  readonly worker: number;
  readonly at: number;
  /** Workers whose copy was left out. */
  readonly copies: Set<number>;
}

/**
 * Creates what writes the lines of the workers' logs to the log of the gateway. Every worker applies each change and opens each listener:
 * a line that several write at the same time is written once.
 */
export function createWorkerLog(log: Loggers, now: () => number): { write(worker: number, lines: string): void } {
  const written = new Map<string, Written>();

  function isCopy(worker: number, line: string): boolean {
    const key = line.replace(/"time":\d+,/, '').replace(/"worker":\d+,?/, '');
    const at = now();
    const before = written.get(key);
    const isRecent = before !== undefined && at - before.at < SAME_MS;
    if (isRecent && before.worker !== worker && !before.copies.has(worker)) {
      before.copies.add(worker);
      return true;
    }
    written.delete(key);
    written.set(key, { worker, at, copies: new Set() });
    for (const [oldest, { at: since }] of written) {
      if (written.size <= MAX_KEPT && at - since < SAME_MS) break;
      written.delete(oldest);
    }
    return false;
  }

  return {
    write(worker, lines) {
      for (const line of lines.split('\n')) {
        if (line === '' || isCopy(worker, line)) continue;
        if (line.startsWith('{')) log.append?.(`${line}\n`);
        // E.g. the stack of the error that ends it.
        else log.get('main').error({ worker, line }, 'unexpected output of a worker');
      }
    },
  };
}
