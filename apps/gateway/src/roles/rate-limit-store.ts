import type { Context } from '@edge-gateway/core';
import { createRedisStore, type Store } from '@edge-gateway/rate-limit';

/** The settings of the counters of rate limits. */
export interface RateLimitStoreSettings {
  readonly rateLimitRedis?: string;
  readonly rateLimitRedisCerts?: string;
}

/** Creates the counters on the Redis of the settings; `undefined` if they are in memory. Throws `ERR_RATE_LIMIT_REDIS`. */
export function rateLimitStore(
  { rateLimitRedis: url, rateLimitRedisCerts: certificates }: RateLimitStoreSettings,
  { log, metrics }: Context,
): Store | undefined {
  return url === undefined ? undefined : createRedisStore({ url, certificates, log: log.get('redis'), metrics });
}
