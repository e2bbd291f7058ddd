import { startTimer } from '@edge-gateway/core';
import { rateLimitError } from '../error-codes.ts';
import type { Limit } from '../rules/limit.ts';
import type { MemoryStore } from './memory.ts';
import type { Charge, Count, Store } from './store.ts';

/** The charges of one turn of the event loop, for a store in another process. */
export interface ChargedBatch {
  readonly id: number;
  readonly keys: readonly string[];
  /** The different limits of the charges. */
  readonly limits: readonly Limit[];
  /** Index of the limit of each charge. */
  readonly limitOf: readonly number[];
  readonly costs: readonly number[];
}

/** The counts of a {@link ChargedBatch}, in its order. */
export interface CountedBatch {
  readonly id: number;
  /** Requests left, or `-1 - left` if the charge is over its limit. */
  readonly left: readonly number[];
  readonly resetMs: readonly number[];
}

/** A store whose counters are in another process. */
export interface RelayedStore extends Store {
  /** Passes the response of the other process to the calls; ignores one that is too late. */
  settle(batch: CountedBatch): void;
}

/** Options of {@link createRelayedStore}. */
export interface RelayedStoreOptions {
  /** Sends a batch. Returns false if the other process cannot be reached. */
  readonly send: (batch: ChargedBatch) => boolean;
  /** Maximum number of charges without a response; more are rejected at once. Default: 20,000. */
  readonly maxWaiting?: number;
}

const DEFAULT_MAX_WAITING = 20_000;
const MAX_DEADLINE_MS = 60_000;

interface Call {
  /** Its first charge in the batch. */
  readonly start: number;
  readonly length: number;
  resolve(counts: readonly Count[]): void;
  reject(error: Error): void;
}

interface Batch {
  readonly keys: string[];
  readonly limits: Limit[];
  readonly limitOf: number[];
  readonly costs: number[];
  readonly calls: Call[];
  deadlineMs: number;
  timer?: NodeJS.Timeout;
}

/**
 * Creates a store that lets another process count, with {@link countBatch}: all charges of one turn of the event loop are one message.
 * `count` rejects with `ERR_RATE_LIMIT_STORE` without a response within its deadline.
 *
 * @example
 * const store = createRelayedStore({ send: (batch) => process.send!(batch) });
 * process.on('message', (batch: CountedBatch) => store.settle(batch));
 */
export function createRelayedStore({ send, maxWaiting = DEFAULT_MAX_WAITING }: RelayedStoreOptions): RelayedStore {
  const sent = new Map<number, Batch>();
  let next: Batch | undefined;
  let waiting = 0;
  let ids = 0;
  let isClosed = false;

  function fail(batch: Batch, detail: string): void {
    waiting -= batch.keys.length;
    for (const call of batch.calls) call.reject(unavailable(detail));
  }

  function flush(): void {
    const batch = next;
    next = undefined;
    if (!batch) return;
    const id = ++ids;
    const { keys, limits, limitOf, costs } = batch;
    if (isClosed || !send({ id, keys, limits, limitOf, costs })) return fail(batch, 'the counting process has ended');
    sent.set(id, batch);
    batch.timer = startTimer(() => {
      sent.delete(id);
      fail(batch, 'no response of the counting process');
    }, batch.deadlineMs);
  }

  function add(batch: Batch, charges: readonly Charge[]): void {
    for (let i = 0; i < charges.length; i++) {
      const { key, limit, cost } = charges[i]!;
      let at = batch.limits.lastIndexOf(limit);
      if (at < 0) at = batch.limits.push(limit) - 1;
      batch.keys.push(key);
      batch.limitOf.push(at);
      batch.costs.push(cost);
    }
  }

  return {
    count(charges, deadlineMs) {
      if (charges.length === 0) return [];
      if (isClosed) return Promise.reject(unavailable('closed'));
      if (waiting + charges.length > maxWaiting) return Promise.reject(unavailable('too many checks are waiting'));
      waiting += charges.length;
      if (!next) {
        next = { keys: [], limits: [], limitOf: [], costs: [], calls: [], deadlineMs: 0 };
        setImmediate(flush);
      }
      const batch = next;
      const start = batch.keys.length;
      batch.deadlineMs = Math.min(Math.max(batch.deadlineMs, deadlineMs), MAX_DEADLINE_MS);
      add(batch, charges);
      return new Promise((resolve, reject) => {
        batch.calls.push({ start, length: charges.length, resolve, reject });
      });
    },
    settle({ id, left, resetMs }) {
      const batch = sent.get(id);
      if (!batch) return;
      sent.delete(id);
      clearTimeout(batch.timer);
      waiting -= batch.keys.length;
      for (const { start, length, resolve } of batch.calls) {
        const counts: Count[] = [];
        for (let i = start; i < start + length; i++) counts.push(countOf(left[i]!, resetMs[i]!));
        resolve(counts);
      }
    },
    close() {
      isClosed = true;
      flush();
      for (const batch of sent.values()) {
        clearTimeout(batch.timer);
        fail(batch, 'closed');
      }
      sent.clear();
    },
  };
}

function countOf(left: number, resetMs: number): Count {
  return left < 0 ? { isOver: true, remaining: -1 - left, resetMs } : { isOver: false, remaining: left, resetMs };
}

/** Counts the charges of another process. */
export function countBatch(store: MemoryStore, { id, keys, limits, limitOf, costs }: ChargedBatch): CountedBatch {
  const counts = store.count(keys.map((key, i) => ({ key, limit: limits[limitOf[i]!]!, cost: costs[i]! })));
  return {
    id,
    left: counts.map(({ isOver, remaining }) => (isOver ? -1 - remaining : remaining)),
    resetMs: counts.map((count) => count.resetMs),
  };
}

function unavailable(detail: string): Error {
  return rateLimitError('ERR_RATE_LIMIT_STORE', `rate limits in the parent process: ${detail}`);
}
