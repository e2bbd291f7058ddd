import { seal, unseal, type Logger } from '@edge-gateway/core';
import type { SessionRedis } from '../session/redis.ts';

const PREFIX = 'azure-groups:';

/** Groups that all processes on one Redis share. If Redis is unavailable, nothing is found. */
export interface SharedGroups {
  get(key: string): Promise<readonly string[] | undefined>;
  set(key: string, groups: readonly string[], ttlMs: number): Promise<void>;
}

/** Creates {@link SharedGroups}; they are encrypted, so that nobody who can write to Redis can forge groups. */
export function createSharedGroups(redis: SessionRedis, cipherKey: Uint8Array, log: Logger): SharedGroups {
  const unavailable = (err: unknown): undefined => {
    log.warn({ err }, 'failed to share groups of users');
    return undefined;
  };
  return {
    async get(key) {
      const sealed = await redis.run((each) => each.get(PREFIX + key)).catch(unavailable);
      const text = sealed ? unseal(cipherKey, key, sealed) : undefined;
      return text === undefined ? undefined : Object.freeze(JSON.parse(text) as string[]);
    },
    async set(key, groups, ttlMs) {
      const sealed = seal(cipherKey, key, JSON.stringify(groups));
      const expiration = { type: 'PX', value: Math.ceil(ttlMs) } as const;
      await redis.run((each) => each.set(PREFIX + key, sealed, { expiration })).catch(unavailable);
    },
  };
}
