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
  /** Closes the connection; the next command opens another. */
  disconnect(): void;
  /** How many logins use it. */
  users: number;
}

export type RedisClient = ReturnType<typeof connect>;

const COMMAND_DEADLINE_MS = 800;
const CONNECT_TIMEOUT_MS = 700;
const RECONNECT_MS = 200;
/** After so many attempts in vain the next command begins anew; a process that only waits for Redis may end. */
const MAX_RECONNECTS = 25;
const MAX_WAITING = 1000;
/** After a command got no answer, one at a time asks whether Redis is back; the others fail at once. */
const PROBE_EVERY_MS = 250;
/** After so many commands without an answer the connection is made anew. */
const MAX_MISSED = 5;
const REPORT_EVERY_MS = 5000;
/** A server that answers so is not the primary any more, or not ready: another connection may find the one that is. */
const MOVED = /^(READONLY|MOVED|CLUSTERDOWN|MASTERDOWN|LOADING|UNBLOCKED)/;

/** Connects when first used, and again whenever the connection is lost. */
export function createRedis(options: RedisOptions, log: Logger): Redis {
  let client: RedisClient | undefined;
  let waiting = 0;
  let silentSince = 0;
  let reported = 0;
  let missed = 0;

  function current(): RedisClient {
    if (client?.isOpen) return client;
    const made = connect(options);
    made.on('error', report);
    made.connect().catch(report);
    client = made;
    return made;
  }

  function report(err: unknown): void {
    if (Date.now() - reported < REPORT_EVERY_MS) return;
    reported = Date.now();
    log.warn({ err }, 'redis cannot be used');
  }

  function drop(): void {
    const gone = client;
    client = undefined;
    gone?.destroy();
  }

  async function run<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    if (waiting >= MAX_WAITING) throw unavailable('too many commands wait');
    if (silentSince && Date.now() - silentSince < PROBE_EVERY_MS) throw unavailable('no answer a moment ago');
    if (silentSince) silentSince = Date.now();
    waiting++;
    try {
      const result = await withDeadline(ready(current(), command));
      silentSince = 0;
      missed = 0;
      return result;
    } catch (error) {
      if (error === LATE || error === AWAY) silentSince = Date.now();
      if (error === LATE) missed++;
      if (missed >= MAX_MISSED || (error instanceof Error && MOVED.test(error.message))) {
        missed = 0;
        drop();
      }
      throw unavailable(error === LATE ? 'no answer in time' : (error as Error).message, error);
    } finally {
      waiting--;
    }
  }

  return { run, disconnect: drop, users: 0 };
}

const AWAY = new Error('redis cannot be reached');
const LATE = new Error('redis gave no answer in time');

function unavailable(detail: string, cause?: unknown): Error {
  return failure('ERR_OIDC_STORE_UNAVAILABLE', `redis: ${detail}`, cause);
}

/** Runs a command once the connection is there; a client that waits for its server refuses commands otherwise. */
async function ready<T>(client: RedisClient, command: (client: RedisClient) => Promise<T>): Promise<T> {
  const until = Date.now() + CONNECT_TIMEOUT_MS;
  while (!client.isReady && Date.now() < until) await wait(10);
  if (!client.isReady) throw AWAY;
  return command(client);
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(LATE), COMMAND_DEADLINE_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
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

function reconnectStrategy(attempts: number): number | Error {
  return attempts < MAX_RECONNECTS ? RECONNECT_MS : AWAY;
}

function socketOf({ host = '', socketType, tlsCertMountPath }: RedisOptions, url: URL | null) {
  const common = { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy };
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
