import { LRUCache } from 'lru-cache';

/** A bounded map whose entries expire. */
export type ExpiringMap<V extends {}> = Pick<LRUCache<string, V>, 'get' | 'set' | 'delete'>;

/** Creates an {@link ExpiringMap} on a clock in milliseconds: beyond `max` entries the least recently used one is evicted. */
export function createExpiringMap<V extends {}>(limits: {
  readonly max: number;
  readonly ttlMs: number;
  readonly now: () => number;
}): ExpiringMap<V> {
  const { max, ttlMs, now } = limits;
  return new LRUCache<string, V>({ max, ttl: ttlMs, ttlResolution: 0, perf: { now } });
}
