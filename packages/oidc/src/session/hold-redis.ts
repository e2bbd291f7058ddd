import { digest, type Context } from '@edge-gateway/core';
import type { RedisOptions } from '@edge-gateway/core/schema';
import { createRedis, type Redis } from './redis.ts';

/** A share in a connection. */
export interface HeldRedis {
  readonly redis: Redis;
  /** The last who lets go of a connection closes it. */
  release(): void;
}

/** Takes a share in the one connection of this process to a Redis. Throws `ERR_OIDC_CONFIG`. */
export function holdRedis(options: RedisOptions, context: Context): HeldRedis {
  const key = `oidc:redis:${digest(JSON.stringify(options))}`;
  const redis = context.state(key, () => createRedis(options, context.log.get('redis')));
  redis.users++;
  let isHeld = true;
  return {
    redis,
    release() {
      if (!isHeld) return;
      isHeld = false;
      if (--redis.users === 0) redis.disconnect();
    },
  };
}
