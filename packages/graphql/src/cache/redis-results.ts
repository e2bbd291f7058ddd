import { createRedis, readRedisAddress, type Logger, type Redis, type RedisClientOptions } from '@edge-gateway/core';
import type { createClient } from 'redis';
import type { ResultStore } from './shared-results.ts';

/** A store with a connection. */
export interface RedisResults extends ResultStore {
  close(): void;
}

/** A result that is not there by then is computed again. */
const DEADLINE_MS = 200;
/** After a command without a response, Redis is not used for this time. */
const PAUSE_MS = 1000;

/**
 * Keeps results in Redis, for all gateways that use it: `url` as any address of {@link readRedisAddress} with a
 * scheme, such as `redis://user:password@host:port/database`, or `rediss://` for TLS. Connects at once and again whenever the connection is lost; without a connection, nothing is found.
 * Throws a `TypeError` for any other URL.
 *
 * @example
 * const cache = redisResults('redis://127.0.0.1:6379', log.get('graphql'));
 * app.use('/graphql', graphqlApi({ schemaDefinition, resolutions, upstreams, cache }));
 */
export function redisResults(url: string, log: Logger): RedisResults {
  if (!url.includes('://')) throw new TypeError('the URL of Redis must begin with redis://');
  readRedisAddress({ host: url });
  let redis: Redis<ReturnType<typeof createClient>> | undefined;
  let isClosed = false;

  /** Loads the client only if it is used. */
  async function start(): Promise<void> {
    const { createClient, createCluster, createSentinel } = await import('redis');
    if (isClosed) return;
    redis = createRedis(
      { host: url },
      {
        createClient: (options: RedisClientOptions) => createClient(options),
        createCluster: (options) => createCluster(options),
        createSentinel: (options) => createSentinel(options),
        log,
        unavailable: (detail, cause) => new Error(`redis: ${detail}`, { cause }),
        deadlineMs: DEADLINE_MS,
        connectWaitMs: 0,
        probeEveryMs: PAUSE_MS,
      },
    );
    await redis.run((client) => client.ping());
  }

  start().catch(none);
  return {
    async get(key) {
      return (await redis?.run((client) => client.get(key)).catch(none)) ?? undefined;
    },
    async set(key, value, ttlMs) {
      await redis?.run((client) => client.set(key, value, { expiration: { type: 'PX', value: ttlMs } })).catch(none);
    },
    close() {
      isClosed = true;
      redis?.disconnect();
    },
  };
}

/** The log says why Redis failed, and requests do without it. */
function none(): undefined {
  return undefined;
}
