import { createExpiringMap } from './expiring-map.ts';
import type { SessionRedis } from './redis.ts';

/** Ids of used logout tokens. Each is kept until its token is too old to be accepted. */
export interface UsedIds {
  /** Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  has(id: string): Promise<boolean>;
  /** Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  add(id: string): Promise<void>;
}

/** Longer than a logout token is valid. */
const USED_MS = 600_000;
const MAX_USED = 100_000;

/** Creates a memory of this process only, on a clock in milliseconds. */
export function createLocalUsedIds(now: () => number): UsedIds {
  const used = createExpiringMap<true>({ max: MAX_USED, ttlMs: USED_MS, now });
  return {
    has: async (id) => used.get(id) === true,
    add: async (id) => void used.set(id, true),
  };
}

/** Creates a memory that all processes on one Redis share. */
export function createRedisUsedIds(redis: SessionRedis, prefix: string): UsedIds {
  const keyOf = (id: string): string => `${prefix}used:${id}`;
  const expiration = { type: 'PX', value: USED_MS } as const;
  return {
    has: async (id) => (await redis.run((each) => each.exists(keyOf(id)))) > 0,
    add: async (id) => void (await redis.run((each) => each.set(keyOf(id), '1', { expiration }))),
  };
}
