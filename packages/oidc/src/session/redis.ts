import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from 'redis';
import type { Logger } from '@edge-gateway/core';
import type { RedisOptions } from '@edge-gateway/core/schema';
import { failure } from '../failure.ts';

/** A connection to Redis that never lets a caller wait: a command answers, or fails, within a second. */
export interface Redis {
  /** Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  run<T>(command: (client: RedisClient) => Promise<T>): Promise<T>;
  close(): void;
}

export type RedisClient = ReturnType<typeof connect>;

const COMMAND_DEADLINE_MS = 800;
const CONNECT_TIMEOUT_MS = 800;
const RECONNECT_MS = 200;
const MAX_WAITING = 1000;
/** After a command got no answer, one at a time asks whether Redis is back; the others fail at once. */
const PROBE_EVERY_MS = 250;
/** A server that answers so is not the primary any more, or not ready: another connection may find the one that is. */
const MOVED = /^(READONLY|MOVED|CLUSTERDOWN|MASTERDOWN|LOADING|UNBLOCKED)/;

/** Connects when first used, and again whenever the connection is lost. */
export function createRedis(options: RedisOptions, log: Logger): Redis {
  let client: RedisClient | undefined;
  let waiting = 0;
  let silentSince = 0;
  let closed = false;

  function current(): RedisClient {
    if (client) return client;
    const made = connect(options);
    made.on('error', (err: unknown) => log.warn({ err }, 'redis'));
    made.connect().catch((err: unknown) => log.warn({ err }, 'redis cannot be reached'));
    client = made;
    return made;
  }

  function drop(): void {
    const gone = client;
    client = undefined;
    gone?.destroy();
  }

  async function run<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    if (closed || waiting >= MAX_WAITING) throw unavailable('too many commands wait');
    if (silentSince && Date.now() - silentSince < PROBE_EVERY_MS) throw unavailable('no answer a moment ago');
    if (silentSince) silentSince = Date.now();
    waiting++;
    try {
      const result = await withDeadline(ready(current(), command));
      silentSince = 0;
      return result;
    } catch (error) {
      if (error === LATE) silentSince = Date.now();
      if (error instanceof Error && MOVED.test(error.message)) drop();
      throw unavailable(error === LATE ? 'no answer in time' : (error as Error).message, error);
    } finally {
      waiting--;
    }
  }

  return {
    run,
    close() {
      closed = true;
      drop();
    },
  };
}

const LATE = new Error('redis gave no answer in time');

function unavailable(detail: string, cause?: unknown): Error {
  return failure('ERR_OIDC_STORE_UNAVAILABLE', `redis: ${detail}`, cause);
}

/** Runs a command once the connection is there; a client that waits for its server refuses commands otherwise. */
async function ready<T>(client: RedisClient, command: (client: RedisClient) => Promise<T>): Promise<T> {
  const until = Date.now() + COMMAND_DEADLINE_MS;
  while (!client.isReady && Date.now() < until) await wait(10);
  if (!client.isReady) throw new Error('cannot be reached');
  return command(client);
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = wait(COMMAND_DEADLINE_MS, undefined, { signal: timer.signal }).then(() => Promise.reject(LATE));
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    work.catch(() => {});
  }
}

function connect(options: RedisOptions) {
  const { host = '', db = 0 } = options;
  const url = URL.parse(/^rediss?:\/\//.test(host) ? host : '');
  return createClient({
    ...(url && url.username && { username: decodeURIComponent(url.username) }),
    ...(url && url.password && { password: decodeURIComponent(url.password) }),
    database: db,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_WAITING,
    socket: socketOf(options, url),
  });
}

function socketOf({ host = '', socketType, tlsCertMountPath }: RedisOptions, url: URL | null) {
  const common = { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: () => RECONNECT_MS };
  if (host.startsWith('unix://')) return { ...common, path: host.slice('unix://'.length) };
  const address = url ?? URL.parse(`redis://${host}`);
  if (!address?.hostname) throw failure('ERR_OIDC_CONFIG', 'the address of redis cannot be read');
  const tcp = { ...common, host: address.hostname.replace(/^\[|\]$/g, ''), port: Number(address.port || 6379) };
  if (socketType !== 'TLS' && url?.protocol !== 'rediss:') return tcp;
  return { ...tcp, tls: true as const, ...certificates(tlsCertMountPath) };
}

/** `ca.crt`, `tls.crt` and `tls.key` of a directory, as far as they are there. */
function certificates(directory: string | undefined): Record<string, Buffer> {
  if (!directory) return {};
  const files = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' };
  const read = Object.entries(files).flatMap(([name, file]) => {
    try {
      return [[name, readFileSync(join(directory, file))] as const];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(read);
}
