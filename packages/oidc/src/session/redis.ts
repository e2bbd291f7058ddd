import { createRequire } from 'node:module';
import type { createClient } from 'redis';
import {
  createRedis,
  digest,
  type Context,
  type Logger,
  type Redis,
  type RedisClientOptions,
} from '@edge-gateway/core';
import type { RedisOptions } from '@edge-gateway/core/schema';
import { failure } from '../error-codes.ts';

/** Loads the client lazily: it has several hundred modules, and most gateways do not store sessions in Redis. */
const loadClient = (): typeof import('redis') => createRequire(import.meta.url)('redis') as typeof import('redis');

/** A Redis whose commands reject with `ERR_OIDC_STORE_UNAVAILABLE`, within a second. */
export type SessionRedis = Redis<ReturnType<typeof createClient>>;

/** Creates a Redis for sessions. Throws `ERR_OIDC_CONFIG` for an invalid address. */
export function createSessionRedis(options: RedisOptions, log: Logger): SessionRedis {
  const { createClient, createCluster, createSentinel } = loadClient();
  try {
    return createRedis(options, {
      createClient: (each: RedisClientOptions) => createClient(each),
      createCluster: (each) => createCluster(each),
      createSentinel: (each) => createSentinel(each),
      log,
      unavailable: (detail, cause) => failure('ERR_OIDC_STORE_UNAVAILABLE', `session store: ${detail}`, cause),
    });
  } catch (error) {
    throw failure('ERR_OIDC_CONFIG', (error as Error).message);
  }
}

/**
 * Takes a share in the one connection of this process to a Redis. `release` closes the connection when its last holder calls
 * it. Throws `ERR_OIDC_CONFIG`.
 */
export function shareRedis(options: RedisOptions, context: Context): { readonly redis: SessionRedis; release(): void } {
  const key = `oidc:redis:${digest(JSON.stringify(options))}`;
  const shared = context.state(key, () => ({ redis: createSessionRedis(options, context.log.get('redis')), users: 0 }));
  shared.users++;
  let isHeld = true;
  return {
    redis: shared.redis,
    release() {
      if (!isHeld) return;
      isHeld = false;
      if (--shared.users === 0) shared.redis.disconnect();
    },
  };
}
