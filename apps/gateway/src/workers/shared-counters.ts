import type { Context } from '@edge-gateway/core';
import {
  countBatch,
  createMemoryStore,
  type ChargedBatch,
  type CountedBatch,
  type MemoryStore,
} from '@edge-gateway/rate-limit';

/** The counters of rate limits of all workers, in memory. */
export function createSharedCounters({ log, metrics, now }: Context) {
  let store: MemoryStore | undefined;
  const create = (): MemoryStore => {
    const evicted = metrics.counter({
      path: 'ratelimit.vendor.io.counters_evicted',
      metric: 'ratelimit_vendor_io_counters_evicted',
    });
    return createMemoryStore({
      now,
      onEvict(keys) {
        if (evicted.value === 0) log.get('filter').warn({ keys }, 'too many rate limit counters, oldest evicted');
        evicted.value += keys;
      },
    });
  };
  return {
    count: (batch: ChargedBatch): CountedBatch => countBatch((store ??= create()), batch),
    close: () => store?.close(),
  };
}
