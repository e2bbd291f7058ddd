import { createExpiringMap } from './expiring-map.ts';
import type { SessionRedis } from './redis.ts';

/** Sessions in cookies that were logged out. Each is denied for a fixed time. */
export interface DenyList {
  /** Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  add(id: string): Promise<void>;
  /** Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  has(id: string): Promise<boolean>;
  close?(): void;
}

const MAX_DENIED = 100_000;
const PREFIX = 'logged-out:';

/** Creates a list of this process only, on a clock in milliseconds. Beyond 100,000 sessions the least recently used one is evicted. */
export function createLocalDenyList(durationMs: number, now: () => number): DenyList {
  const denied = createExpiringMap<true>({ max: MAX_DENIED, ttlMs: durationMs, now });
  return {
    add: async (id) => void denied.set(id, true),
    has: async (id) => denied.get(id) === true,
  };
}

/** Creates a list that all processes on one Redis share. */
export function createRedisDenyList(
  redis: SessionRedis,
  { durationMs, close }: { readonly durationMs: number; readonly close: () => void },
): DenyList {
  const expiration = { type: 'PX', value: Math.max(1, Math.ceil(durationMs)) } as const;
  return {
    add: async (id) => void (await redis.run((each) => each.set(PREFIX + id, '1', { expiration }))),
    has: async (id) => (await redis.run((each) => each.exists(PREFIX + id))) > 0,
    close,
  };
}
