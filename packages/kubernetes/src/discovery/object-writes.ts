import type { Logger } from '@edge-gateway/core';
import { isApiError } from '../client/api-error.ts';
import { connectionProblem, type ClusterClient } from '../client/cluster-client.ts';
import type { WriteLimit } from '../client/write-limit.ts';
import type { ClusterObject } from '../watch/cluster-object.ts';
import { createRetryTimes } from '../watch/retry-times.ts';
import { createScheduledWork } from '../watch/scheduled-work.ts';

const RETRY_MS = 5_000;
/** The longest time between attempts, in times of the first. */
const MAX_RETRY_FACTOR = 12;

export interface ObjectWritesOptions {
  readonly client: Pick<ClusterClient, 'send'>;
  readonly log: Logger;
  /** Default: none besides that of the API server. */
  readonly limit?: Pick<WriteLimit, 'acquire'>;
  /** Time after the first failed write of a unit; it doubles with each further one. Default 5 s. */
  readonly retryMs?: number;
}

/** What writes units of type `T` to a cluster. */
interface UnitWriter<T> {
  /** For logs, e.g. `GraphQLApi`. */
  readonly what: string;
  apply(unit: string, value: T, signal: AbortSignal): Promise<void>;
  remove(unit: string, signal: AbortSignal): Promise<void>;
}

/** Receives what was discovered by unit, `discovery/<namespace>/<name>`, and writes it to a cluster. */
export interface ObjectWrites<T> {
  set(unit: string, value: T): void;
  delete(unit: string): void;
  /** Ignores both while it does not lead. */
  setLeading(isLeading: boolean): void;
  close(): Promise<void>;
}

/** Creates writes of units, one after the other. A write that fails is tried again, ever more rarely, and delays no other. */
export function createObjectWrites<T>(
  { what, apply, remove }: UnitWriter<T>,
  { log, limit, retryMs = RETRY_MS }: ObjectWritesOptions,
): ObjectWrites<T> {
  const closing = new AbortController();
  const { signal } = closing;
  /** What has to be written next, by unit; `undefined` is a deletion. */
  const pending = new Map<string, T | undefined>();
  const retries = createRetryTimes({ firstMs: retryMs, maxMs: retryMs * MAX_RETRY_FACTOR });
  const runs = createScheduledWork({ collectMs: 0, retryMs, log, work });
  let isLeading = false;

  function enqueue(unit: string, value: T | undefined): void {
    if (!isLeading) return;
    pending.set(unit, value);
    retries.succeeded(unit);
    runs.schedule();
  }

  /** Writes what is due. One that fails delays no other. */
  async function work(): Promise<void> {
    for (const [unit, value] of pending) {
      if (signal.aborted) return;
      if (retries.remainingMs(unit) > 0) continue;
      pending.delete(unit);
      try {
        await limit?.acquire(signal);
        if (value !== undefined) await apply(unit, value, signal);
        else await remove(unit, signal);
        retries.succeeded(unit);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ resource: unit, reason: connectionProblem(error) }, `failed to write discovered ${what}`);
        retries.failed(unit);
        // Another process writes it if this one no longer leads.
        if (isLeading && !pending.has(unit)) pending.set(unit, value);
      }
    }
    if (pending.size > 0) runs.schedule(Math.min(...[...pending.keys()].map(retries.remainingMs)));
  }

  return {
    set: enqueue,
    delete: (unit) => enqueue(unit, undefined),
    setLeading(leads) {
      isLeading = leads;
      if (leads) return;
      pending.clear();
      retries.retain(new Set());
    },
    async close() {
      closing.abort();
      await runs.close();
    },
  };
}

/** Returns an object of the cluster; `undefined` if it does not exist. */
export async function readObject(
  client: Pick<ClusterClient, 'send'>,
  path: string,
  signal: AbortSignal,
): Promise<ClusterObject | undefined> {
  try {
    return await client.send<ClusterObject>({ path, signal });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}
