import { LRUCache } from 'lru-cache';
import type { SessionRedis } from './redis.ts';

/** A bounded map whose entries expire. */
export type ExpiringMap<V extends {}> = Pick<LRUCache<string, V>, 'get' | 'set' | 'delete'>;

/** Creates an {@link ExpiringMap} on a clock in milliseconds: beyond `max` entries the least recently used one is evicted. */
export function createExpiringMap<V extends {}>(limits: {
  readonly max: number;
  readonly ttlMs: number;
  readonly now: () => number;
}): ExpiringMap<V> {
  const { max, ttlMs, now } = limits;
  const ttl = Math.max(1, Math.ceil(ttlMs));
  return new LRUCache<string, V>({ max, ttl, ttlResolution: 0, perf: { now } });
}

/** The errors of a moment ago, by key. */
export interface RecentErrors {
  get(key: string): Error | undefined;
  set(key: string, error: Error): void;
}

/** Creates {@link RecentErrors} that are forgotten after `ttlMs`, and when the clock is set back by more. */
export function createRecentErrors(limits: Parameters<typeof createExpiringMap>[0]): RecentErrors {
  const { ttlMs, now } = limits;
  const errors = createExpiringMap<{ readonly error: Error; readonly at: number }>(limits);
  return {
    get(key) {
      const found = errors.get(key);
      return found && Math.abs(now() - found.at) < ttlMs ? found.error : undefined;
    },
    set: (key, error) => void errors.set(key, { error, at: now() }),
  };
}

/** Ids that are each remembered for a fixed time. Methods throw `ERR_OIDC_STORE_UNAVAILABLE`. */
export interface ExpiringIds {
  add(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
  close?(): void;
}

const MAX_IDS = 100_000;

/** Creates {@link ExpiringIds} of this process only. Beyond 100,000 ids the least recently used one is evicted. */
export function createLocalIds(ttlMs: number, now: () => number): ExpiringIds {
  const ids = createExpiringMap<true>({ max: MAX_IDS, ttlMs, now });
  return { add: async (id) => void ids.set(id, true), has: async (id) => ids.get(id) === true };
}

/** Creates {@link ExpiringIds} that all processes on one Redis share. */
export function createRedisIds(
  redis: SessionRedis,
  { prefix, ttlMs }: { readonly prefix: string; readonly ttlMs: number },
): ExpiringIds {
  const expiration = { type: 'PX', value: Math.max(1, Math.ceil(ttlMs)) } as const;
  return {
    add: async (id) => void (await redis.run((each) => each.set(prefix + id, '1', { expiration }))),
    has: async (id) => (await redis.run((each) => each.exists(prefix + id))) > 0,
  };
}

/** Returns a function that visits the next `count` entries of a map, and starts again at its end: every entry has its turn. */
export function createSweep<V>(
  entries: ReadonlyMap<string, V>,
  count: number,
  visit: (key: string, value: V) => void,
): () => void {
  let cursor = entries.entries();
  return () => {
    for (let i = 0; i < count; i++) {
      const { value, done } = cursor.next();
      if (done) cursor = entries.entries();
      else visit(...value);
    }
  };
}
