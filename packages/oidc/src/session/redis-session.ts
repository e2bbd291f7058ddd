import { RedisStore } from 'connect-redis';
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from 'express-session';
import { digest, randomToken } from '@edge-gateway/core';
import type { Redis } from './redis.ts';
import type { SessionIndex } from './session-index.ts';
import type { SessionLock } from './session-lock.ts';

/** A lock whose holder died ends after this; one that is at work makes it last. */
const LOCK_MS = 7000;
const POLL_MS = 50;
const RELEASE = 'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end';

const EXTEND =
  'if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end';

/** The store of `connect-redis` on a connection whose commands have deadlines. */
export function createRedisStore(redis: Redis, prefix: string): Store {
  const client = {
    get: (key: string) => redis.run((each) => each.get(key)),
    set: (key: string, value: string, options?: { expiration: { type: 'EX'; value: number } }) =>
      redis.run((each) => each.set(key, value, options)),
    del: (keys: string[]) => redis.run((each) => each.del(keys)),
    expire: (key: string, seconds: number) => redis.run((each) => each.expire(key, seconds)),
  };
  return new RedisStore({ client, prefix });
}

/** A lock that all processes on one Redis share. `lockMs` after its holder died it ends. */
export function createRedisLock(redis: Redis, prefix: string, lockMs = LOCK_MS): SessionLock {
  return {
    async acquire(id, waitMs) {
      const key = `${prefix}lock:${id}`;
      const owner = randomToken();
      const until = Date.now() + waitMs;
      const take = () =>
        redis.run((each) => each.set(key, owner, { condition: 'NX', expiration: { type: 'PX', value: lockMs } }));
      while ((await take()) === null) {
        if (Date.now() >= until) return undefined;
        await wait(POLL_MS);
      }
      const extend = (): Promise<unknown> =>
        redis.run((each) => each.eval(EXTEND, { keys: [key], arguments: [owner, String(lockMs)] }));
      const timer = setInterval(() => void extend().catch(() => {}), lockMs / 3).unref();
      return async () => {
        clearInterval(timer);
        // Where this fails the lock ends by itself.
        await redis.run((each) => each.eval(RELEASE, { keys: [key], arguments: [owner] })).catch(() => {});
      };
    },
  };
}

/** An index that all processes on one Redis share: a set of ids for each key. */
export function createRedisIndex(redis: Redis, prefix: string, ttlSeconds: number): SessionIndex {
  const keyOf = (key: string): string => `${prefix}index:${digest(key)}`;
  return {
    async add(keys, id) {
      if (keys.length === 0) return;
      await redis.run(async (each) => {
        const batch = each.multi();
        for (const key of keys) batch.sAdd(keyOf(key), id).expire(keyOf(key), ttlSeconds);
        return batch.exec();
      });
    },
    async take(keys) {
      const ids = new Set<string>();
      for (const key of keys.map(keyOf)) {
        const found = await redis.run((each) => each.sMembers(key));
        for (const id of found) ids.add(id);
        if (found.length > 0) await redis.run((each) => each.del(key));
      }
      return [...ids];
    },
  };
}
