import type { Counter, Histogram, Metrics } from '@edge-gateway/core';

/** The statistics of counters on Redis. */
export interface RedisStoreMetrics {
  /** Milliseconds of the commands, each with all charges gathered until then. */
  readonly time: Histogram;
  /** Commands that failed. */
  readonly errors: Counter;
  /** Charges of commands that failed, and those that were rejected because too many were waiting. */
  readonly rejected: Counter;
}

/** Registers the statistics of counters on Redis. */
export function redisStoreMetrics(metrics: Metrics): RedisStoreMetrics {
  const name = (suffix: string) => ({
    path: `ratelimit.vendor.io.redis.${suffix}`,
    metric: `ratelimit_vendor_io_redis_${suffix}`,
  });
  return {
    time: metrics.histogram(name('command_time_ms')),
    errors: metrics.counter(name('command_errors')),
    rejected: metrics.counter(name('charges_rejected')),
  };
}
