import type { Logger } from '@edge-gateway/core';
import type { createClient } from 'redis';
import type { ResultStore } from './shared-results.ts';

/** A store with a connection. */
export interface RedisResults extends ResultStore {
  close(): void;
}

type Client = ReturnType<typeof createClient>;

const CONNECT_TIMEOUT_MS = 700;
const RECONNECT_MS = 500;
/** A result that is not there by then is made anew. */
const COMMAND_DEADLINE_MS = 200;
const MAX_WAITING = 1000;
/** After a command without an answer Redis is left alone so long. */
const PAUSE_MS = 1000;
const REPORT_EVERY_MS = 5000;

/**
 * Keeps results in Redis, for all gateways that use it: `url` as `redis://user:password@host:port/database`, or `rediss://`
 * for TLS. Connects at once and again whenever the connection is lost; as long as there is none, nothing is found.
 * Throws a `TypeError` for what is no such URL.
 *
 * @example
 * const cache = redisResults('redis://127.0.0.1:6379', log.get('graphql'));
 * app.use('/graphql', graphqlApi({ schemaDefinition, resolutions, upstreams, cache }));
 */
export function redisResults(url: string, log: Logger): RedisResults {
  if (!/^rediss?:$/.test(new URL(url).protocol)) throw new TypeError('the address of Redis begins with redis://');
  let client: Client | undefined;
  let closed = false;
  let pausedUntil = 0;
  let reported = 0;

  function report(err: unknown): void {
    if (closed || Date.now() - reported < REPORT_EVERY_MS) return;
    reported = Date.now();
    log.warn({ err }, 'redis cannot be used for results');
  }

  async function start(): Promise<void> {
    const redis = await import('redis');
    if (closed) return;
    client = redis.createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_WAITING,
      socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: () => RECONNECT_MS },
    }) as Client;
    client.on('error', report);
    await client.connect();
  }

  async function run<T>(command: (ready: Client) => Promise<T>): Promise<T | undefined> {
    if (!client?.isReady || Date.now() < pausedUntil) return undefined;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      pausedUntil = Date.now() + PAUSE_MS;
      reject(new Error('redis gave no answer in time'));
    }, COMMAND_DEADLINE_MS);
    const work = command(client);
    work.catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      report(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  start().catch(report);
  return {
    async get(key) {
      return (await run((ready) => ready.get(key))) ?? undefined;
    },
    async set(key, value, ttlMs) {
      await run((ready) => ready.set(key, value, { expiration: { type: 'PX', value: ttlMs } }));
    },
    close() {
      closed = true;
      client?.destroy();
    },
  };
}
