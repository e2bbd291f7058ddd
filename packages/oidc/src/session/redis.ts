import { setTimeout as wait } from 'node:timers/promises';
import { createClient, ErrorReply } from 'redis';
import type { Logger } from '@edge-gateway/core';
import type { RedisOptions } from '@edge-gateway/core/schema';
import { codeOf, failure } from '../failure.ts';
import { readAddress, readCertificates, type RedisAddress } from './redis-address.ts';
import { createReport, troubleOf } from './redis-trouble.ts';

/** A Redis that never lets a caller wait: a command answers, or fails, within a second. */
export interface Redis {
  /** Throws `ERR_OIDC_STORE_UNAVAILABLE`. */
  run<T>(command: (client: RedisClient) => Promise<T>): Promise<T>;
  /** Closes the connections; the next command opens another. */
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
/** A server that answers so is not the primary any more, or not ready: another connection may find the one that is. */
const MOVED = /^(READONLY|MOVED|CLUSTERDOWN|MASTERDOWN|LOADING|UNBLOCKED)/;

/**
 * Makes a Redis of `poolSize` connections (default: one, which all commands share), used in turn. Each is made when
 * first used, and again whenever it is lost. Throws `ERR_OIDC_CONFIG` for an address that cannot be read.
 */
export function createRedis(options: RedisOptions, log: Logger): Redis {
  readAddress(options);
  const report = createReport(log);
  const connections = Array.from({ length: options.poolSize || 1 }, () => createConnection(options, report));
  let turn = 0;
  return {
    run: (command) => connections[turn++ % connections.length]!.run(command),
    disconnect() {
      for (const connection of connections) connection.disconnect();
    },
    users: 0,
  };
}

function createConnection(options: RedisOptions, report: (error: unknown) => void): Omit<Redis, 'users'> {
  let client: RedisClient | undefined;
  let waiting = 0;
  let silentSince = 0;
  let missed = 0;
  let trouble: unknown;

  function note(error: unknown): void {
    trouble = error;
    report(error);
  }

  function current(): RedisClient {
    if (client?.isOpen) return client;
    const made = connect(options);
    made.on('error', note);
    made.connect().catch(note);
    client = made;
    return made;
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
      trouble = undefined;
      return result;
    } catch (error) {
      if (error === LATE || error === AWAY) silentSince = Date.now();
      if (error === LATE) missed++;
      if (error instanceof ErrorReply || codeOf(error)) note(error);
      if (missed >= MAX_MISSED || (error instanceof Error && MOVED.test(error.message))) {
        missed = 0;
        drop();
      }
      if (error === AWAY && trouble) throw unavailable(troubleOf(trouble), trouble);
      throw unavailable((error as Error).message, error);
    } finally {
      waiting--;
    }
  }

  return { run, disconnect: drop };
}

const AWAY = new Error('cannot be reached');
const LATE = new Error('no answer in time');

function unavailable(detail: string, cause?: unknown): Error {
  return failure('ERR_OIDC_STORE_UNAVAILABLE', `session store: ${detail}`, cause);
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
  // What came while this process stood still is read before the deadline counts.
  const timer = setTimeout(() => setImmediate(reject, LATE), COMMAND_DEADLINE_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

function connect(options: RedisOptions) {
  const { socket, ...login } = readAddress(options);
  return createClient({
    ...login,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_WAITING,
    // The deadline here is shorter, and theirs costs a signal and an error for every command.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy, ...socketOf(socket, options) },
  });
}

function reconnectStrategy(attempts: number): number | Error {
  return attempts < MAX_RECONNECTS ? RECONNECT_MS : AWAY;
}

function socketOf(socket: RedisAddress['socket'], { tlsCertMountPath }: RedisOptions) {
  if ('path' in socket) return socket;
  const { tls, ...tcp } = socket;
  return tls ? { ...tcp, tls: true as const, ...readCertificates(tlsCertMountPath) } : tcp;
}
