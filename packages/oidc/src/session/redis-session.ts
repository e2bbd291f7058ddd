import { RedisStore } from 'connect-redis';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from 'express-session';
import { digest, randomToken, startInterval } from '@edge-gateway/core';
import type { SessionRedis } from './redis.ts';
import { MAX_IDS, type SessionIndex } from './session-index.ts';
import type { SessionLock } from './session-lock.ts';

/** A lock expires after this time unless its holder extends it. */
const LOCK_MS = 7000;
const POLL_MS = 50;
const RELEASE = 'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end';

const EXTEND =
  'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end';

/** Creates the store of `connect-redis` on a connection whose commands have deadlines. */
export function createRedisStore(redis: SessionRedis, prefix: string): Store {
  const client = {
    get: (key: string) => redis.run((each) => each.get(key)),
    set: (key: string, value: string, options?: { expiration: { type: 'EX'; value: number } }) =>
      redis.run((each) => each.set(key, value, options)),
    del: (keys: string[]) => redis.run((each) => each.del(keys)),
    expire: (key: string, seconds: number) => redis.run((each) => each.expire(key, seconds)),
  };
  return new RedisStore({ client, prefix });
}

/** Creates a lock that all processes on one Redis share. It expires `lockMs` after its holder dies. */
export function createRedisLock(redis: SessionRedis, prefix: string, lockMs = LOCK_MS): SessionLock {
  return {
    async acquire(id, waitMs) {
      const key = `${prefix}lock:${id}`;
      const owner = randomToken();
      const until = performance.now() + waitMs;
      const take = () =>
        redis.run((each) => each.set(key, owner, { condition: 'NX', expiration: { type: 'PX', value: lockMs } }));
      while ((await take()) === null) {
        if (performance.now() >= until) return undefined;
        await wait(POLL_MS);
      }
      const extend = (): Promise<unknown> =>
        redis.run((each) => each.eval(EXTEND, { keys: [key], arguments: [owner, String(lockMs)] }));
      const timer = startInterval(() => void extend().catch(() => {}), lockMs / 3).unref();
      return async () => {
        clearInterval(timer);
        // If this fails, the lock expires.
        await redis.run((each) => each.eval(RELEASE, { keys: [key], arguments: [owner] })).catch(() => {});
      };
    },
  };
}

/** Adds a session to a set sorted by expiry, removes those that expired or exceed the limit, and expires the set with its last one. */
const ADD = `
redis.call("zremrangebyscore", KEYS[1], "-inf", ARGV[3])
redis.call("zadd", KEYS[1], ARGV[2], ARGV[1])
local surplus = redis.call("zcard", KEYS[1]) - tonumber(ARGV[4])
local evicted = {}
if surplus > 0 then
  evicted = redis.call("zrange", KEYS[1], 0, surplus - 1)
  redis.call("zremrangebyrank", KEYS[1], 0, surplus - 1)
end
local last = redis.call("zrange", KEYS[1], -1, -1, "WITHSCORES")
redis.call("pexpireat", KEYS[1], string.format("%.0f", tonumber(last[2])))
return evicted`;

/** Creates an index that all processes on one Redis share: a sorted set of ids for each key, changed in one step each. */
export function createRedisIndex(
  redis: SessionRedis,
  { prefix, now, maxIds = MAX_IDS }: { readonly prefix: string; readonly now: () => number; readonly maxIds?: number },
): SessionIndex {
  const keyOf = (key: string): string => `${prefix}sessions-of:${digest(key)}`;
  return {
    async add(keys, { id, endsAt }) {
      const args = [id, endsAt, now(), maxIds].map(String);
      const evicted = keys.map((key) =>
        redis.run((each) => each.eval(ADD, { keys: [keyOf(key)], arguments: args }) as Promise<string[]>),
      );
      return (await Promise.all(evicted)).flat();
    },
    async find(keys) {
      const found = keys.map((key) => redis.run((each) => each.zRange(keyOf(key), 0, -1)));
      return [...new Set((await Promise.all(found)).flat())];
    },
    async forget(keys, ids) {
      if (ids.length === 0) return;
      await Promise.all(keys.map((key) => redis.run((each) => each.zRem(keyOf(key), [...ids]))));
    },
  };
}
