import type { Context } from '@edge-gateway/core';
import type { Upstreams } from '../upstream/upstream.ts';

/** Receives the spans or log entries of requests; it outlives reloads as long as a listener uses it. */
export interface Collector {
  /** Sends what is queued, in at most this many milliseconds, and releases its connections until the next item. */
  close(limitMs: number): Promise<void>;
}

/** What collectors are created from. */
export interface CollectorParts {
  readonly context: Context;
  readonly upstreams: Upstreams;
}

/** The collectors of a data plane. */
export interface Collectors {
  /** Returns the collector of a key, created at the first call. */
  get<T extends Collector>(key: string, create: (parts: CollectorParts) => T): T;
  /** Closes the collectors that are no longer used. */
  keep(used: ReadonlySet<Collector>): void;
  close(): Promise<void>;
}

const CLOSE_MS = 2_000;

export function createCollectors(parts: CollectorParts): Collectors {
  const known = new Map<string, Collector>();
  const closing = new Set<Promise<void>>();

  function end(collector: Collector): void {
    const done: Promise<void> = collector.close(CLOSE_MS).then(() => void closing.delete(done));
    closing.add(done);
  }

  return {
    get<T extends Collector>(key: string, create: (parts: CollectorParts) => T): T {
      const collector = (known.get(key) as T | undefined) ?? create(parts);
      known.set(key, collector);
      return collector;
    },
    keep(used) {
      for (const [key, collector] of known) {
        if (used.has(collector)) continue;
        known.delete(key);
        end(collector);
      }
    },
    async close() {
      for (const collector of known.values()) end(collector);
      known.clear();
      await Promise.all(closing);
    },
  };
}
