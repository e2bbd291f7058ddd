import { startTimer, type Counter } from '@edge-gateway/core';

/** Collects items and sends them in batches, in the background. */
export interface Batches<T> {
  /** Queues an item, or drops and counts it if the queue is full. Never throws. */
  add(item: T): void;
  /** Sends what is queued, in at most this many milliseconds; the rest is dropped and counted. */
  flush(limitMs: number): Promise<void>;
}

export interface BatchParts<T> {
  /** Sends a batch. If it rejects, the items are dropped and counted. */
  readonly send: (items: readonly T[]) => Promise<void>;
  readonly dropped: Counter;
  /** Called at the first failure after a success. */
  readonly onFailure: (reason: string) => void;
  /** Maximum number of queued items. */
  readonly maxQueued: number;
  /** Number of items that are sent at once. */
  readonly batchSize: number;
  /** Maximum delay of an item in milliseconds. */
  readonly intervalMs: number;
}

export function createBatches<T>(parts: BatchParts<T>): Batches<T> {
  const { send, dropped, onFailure, maxQueued, batchSize, intervalMs } = parts;
  let queue: T[] = [];
  let sending: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  async function sendNext(): Promise<void> {
    const batch = queue.splice(0, batchSize);
    try {
      await send(batch);
      failing = false;
    } catch (error) {
      dropped.value += batch.length;
      if (!failing) onFailure(error instanceof Error ? error.message : String(error));
      failing = true;
    }
  }

  /** Sends everything that is queued before it ends, in batches. */
  async function sendQueued(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const due = queue.length;
    for (let sent = 0; sent < due; sent += batchSize) await sendNext();
    sending = undefined;
    if (queue.length >= batchSize) void begin();
    else if (queue.length > 0) wait();
  }

  function begin(): Promise<void> {
    return (sending ??= sendQueued());
  }

  function wait(): void {
    timer ??= startTimer(() => {
      timer = undefined;
      if (queue.length > 0) void begin();
    }, intervalMs).unref();
  }

  return {
    add(item) {
      if (queue.length >= maxQueued) {
        dropped.value++;
        return;
      }
      queue.push(item);
      if (sending) return;
      if (queue.length >= batchSize) void begin();
      else wait();
    },
    async flush(limitMs) {
      const over = performance.now() + limitMs;
      while (queue.length > 0 || sending) {
        const left = over - performance.now();
        if (left <= 0 || !(await within(begin(), left))) break;
      }
      dropped.value += queue.length;
      queue = [];
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Returns false if the promise is still pending after this time. */
async function within(pending: Promise<void>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = startTimer(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([pending.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
