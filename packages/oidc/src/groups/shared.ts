import { seal, unseal, type Logger } from '@edge-gateway/core';
import type { SessionRedis } from '../session/redis.ts';

const PREFIX = 'azure-groups:';

/** Groups that all processes on one Redis share. It is a cache: where it is away, it has nothing. */
export interface SharedGroups {
  get(key: string): Promise<readonly string[] | undefined>;
  set(key: string, groups: readonly string[], ttlMs: number): Promise<void>;
}

/** Makes {@link SharedGroups}; they are sealed, so that nobody who can write to Redis gives groups to users. */
export function createSharedGroups(redis: SessionRedis, cipherKey: Uint8Array, log: Logger): SharedGroups {
  const away = (err: unknown): undefined => {
    log.warn({ err }, 'the groups of users cannot be shared');
    return undefined;
  };
  return {
    async get(key) {
      const sealed = await redis.run((each) => each.get(PREFIX + key)).catch(away);
      const text = sealed ? unseal(cipherKey, key, sealed) : undefined;
      return text === undefined ? undefined : Object.freeze(JSON.parse(text) as string[]);
    },
    async set(key, groups, ttlMs) {
      const sealed = seal(cipherKey, key, JSON.stringify(groups));
      const expiration = { type: 'PX', value: Math.ceil(ttlMs) } as const;
      await redis.run((each) => each.set(PREFIX + key, sealed, { expiration })).catch(away);
    },
  };
}
