import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../observe/logger.ts';
import type { RedisOptions } from '../schema/auth/session.ts';
import { readRedisAddress, readRedisCertificates, type RedisAddress } from './address.ts';
import { createReport, troubleOf } from './trouble.ts';

/** A Redis client whose commands succeed or fail within a deadline. */
export interface Redis<Client> {
  /** Runs a command, and connects first if necessary. Rejects with an error of {@link RedisParts.unavailable}. */
  run<T>(command: (client: Client) => Promise<T>): Promise<T>;
  /** Closes the connections; the next command opens another one. */
  disconnect(): void;
}

/** The part of a client of the package `redis` that {@link createRedis} uses. */
export interface RedisClientLike {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** Options for `createClient` of the package `redis`. */
export type RedisClientOptions = ReturnType<typeof clientOptions>;

/** The dependencies of a {@link Redis}. */
export interface RedisParts<Client> {
  /** Creates a client without connecting it: `createClient` of the package `redis`. */
  readonly createClient: (options: RedisClientOptions) => Client;
  /** Receives each kind of trouble at most every 5 s, never a password. */
  readonly log: Logger;
  /** Creates the errors of {@link Redis.run}. */
  readonly unavailable: (detail: string, cause?: unknown) => Error;
  /** Time for a command on a connection, in milliseconds. Default: 800. */
  readonly deadlineMs?: number;
  /** How long a command waits for a connection, in milliseconds. Default: 700. */
  readonly connectWaitMs?: number;
  /** After a command without a response, one in this time probes whether Redis is back, and the others fail at once. Default: 250 ms. */
  readonly probeEveryMs?: number;
}

const COMMAND_DEADLINE_MS = 800;
const CONNECT_TIMEOUT_MS = 700;
const PROBE_EVERY_MS = 250;
const RECONNECT_MS = 200;
/** After this many failed attempts the next command connects again, so that a process that only waits for Redis may end. */
const MAX_RECONNECTS = 25;
const MAX_WAITING = 1000;
/** After this many commands without a response the connection is replaced. */
const MAX_MISSED = 5;
/** This server is no longer the primary, or not ready: a new connection may find the one that is. */
const MOVED = /^(READONLY|MOVED|CLUSTERDOWN|MASTERDOWN|LOADING|UNBLOCKED)/;

/**
 * Creates a Redis with `poolSize` connections (default: one, which all commands share), used in turn. Each is opened when it is
 * first used, and again when it is lost. Throws a `TypeError` for an invalid address.
 *
 * @example
 * const redis = createRedis({ host: 'redis:6379' }, { createClient, log, unavailable: (detail) => new Error(detail) });
 * await redis.run((client) => client.get('key'));
 */
export function createRedis<Client extends RedisClientLike>(
  options: RedisOptions,
  parts: RedisParts<Client>,
): Redis<Client> {
  readRedisAddress(options);
  const report = createReport(parts.log);
  const connections = Array.from({ length: options.poolSize || 1 }, () => createConnection(options, parts, report));
  let turn = 0;
  return {
    run: (command) => connections[turn++ % connections.length]!.run(command),
    disconnect() {
      for (const connection of connections) connection.disconnect();
    },
  };
}

function createConnection<Client extends RedisClientLike>(
  options: RedisOptions,
  parts: RedisParts<Client>,
  report: (error: unknown) => void,
): Redis<Client> {
  const { unavailable, probeEveryMs = PROBE_EVERY_MS, connectWaitMs = CONNECT_TIMEOUT_MS } = parts;
  let client: Client | undefined;
  let waiting = 0;
  let silentSince = 0;
  let missed = 0;
  let trouble: unknown;

  /** Errors of a connection that was dropped say nothing about the next one. */
  function note(error: unknown, from: Client | undefined): void {
    if (from !== client) return;
    trouble = error;
    report(error);
  }

  function current(): Client {
    if (client?.isOpen) return client;
    client = undefined;
    const made = parts.createClient(clientOptions(options));
    client = made;
    made.on('error', (error) => note(error, made));
    made.connect().catch((error: unknown) => note(error, made));
    return made;
  }

  function drop(): void {
    const gone = client;
    client = undefined;
    gone?.destroy();
  }

  function failed(error: unknown, used: Client | undefined): Error {
    if (error !== NOT_CONNECTED) note(error, used);
    if (error === LATE) missed++;
    if (error === LATE || (error === NOT_CONNECTED && connectWaitMs > 0)) silentSince = Date.now();
    if (missed >= MAX_MISSED || (error instanceof Error && MOVED.test(error.message))) {
      missed = 0;
      drop();
    }
    if (error === NOT_CONNECTED && trouble) return unavailable(troubleOf(trouble), trouble);
    return unavailable((error as Error).message, error);
  }

  async function run<T>(command: (client: Client) => Promise<T>): Promise<T> {
    if (waiting >= MAX_WAITING) throw unavailable('too many commands are waiting');
    if (silentSince && Date.now() - silentSince < probeEveryMs) throw unavailable('no response a moment ago');
    if (silentSince) silentSince = Date.now();
    waiting++;
    let used: Client | undefined;
    try {
      used = current();
      const result = await withDeadline(
        whenReady(used, connectWaitMs).then(command),
        parts.deadlineMs ?? COMMAND_DEADLINE_MS,
      );
      silentSince = 0;
      missed = 0;
      trouble = undefined;
      return result;
    } catch (error) {
      throw failed(error, used);
    } finally {
      waiting--;
    }
  }

  return { run, disconnect: drop };
}

const NOT_CONNECTED = new Error('no connection');
const LATE = new Error('no response in time');

/** Waits for the connection: a client that is connecting rejects commands. */
async function whenReady<Client extends RedisClientLike>(client: Client, waitMs: number): Promise<Client> {
  const until = Date.now() + waitMs;
  while (!client.isReady && Date.now() < until) await wait(10);
  if (!client.isReady) throw NOT_CONNECTED;
  return client;
}

async function withDeadline<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  // What arrived while this process was blocked is read before the deadline counts.
  const timer = setTimeout(() => setImmediate(reject, LATE), deadlineMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

function clientOptions(options: RedisOptions) {
  const { socket, ...login } = readRedisAddress(options);
  return {
    ...login,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_WAITING,
    // The deadline here is shorter, and theirs costs a signal and an error for each command.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy, ...socketOf(socket, options) },
  };
}

function reconnectStrategy(attempts: number): number | Error {
  return attempts < MAX_RECONNECTS ? RECONNECT_MS : NOT_CONNECTED;
}

function socketOf(socket: RedisAddress['socket'], { tlsCertMountPath }: RedisOptions) {
  if ('path' in socket) return socket;
  const { tls, ...tcp } = socket;
  return tls ? { ...tcp, tls: true as const, ...readRedisCertificates(tlsCertMountPath) } : tcp;
}
