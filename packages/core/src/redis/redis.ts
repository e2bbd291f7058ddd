import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from '../observe/logger.ts';
import type { RedisOptions } from '../schema/auth/session.ts';
import {
  clientFactory,
  MAX_WAITING,
  NOT_CONNECTED,
  type RedisClientOptions,
  type RedisClusterOptions,
  type RedisSentinelOptions,
} from './client-options.ts';
import { createReport, troubleOf, type Report } from './trouble.ts';
import { LATE, withDeadline } from '../time/deadline.ts';

/** How {@link Redis.run} runs a command. */
export interface RunOptions {
  /** Time for the command, with the wait for a connection, in milliseconds. Default: that of {@link RedisParts}. */
  readonly deadlineMs?: number;
  /** Commands that go to the same server of a cluster. If it does not respond, the others are not affected. */
  readonly group?: string;
}

/** A Redis client whose commands succeed or fail within a deadline. */
export interface Redis<Client> {
  /** Runs a command, and connects first if necessary. Rejects with an error of {@link RedisParts.unavailable}. */
  run<T>(command: (client: Client) => Promise<T>, options?: RunOptions): Promise<T>;
  /** Closes the connections; the next command opens another one. */
  disconnect(): void;
}

/** The part of a client of the package `redis` that {@link createRedis} uses. */
export interface RedisClientLike {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  destroy(): unknown;
}

/**
 * Thrown by a command for a response that Redis never sends, e.g. because it is of another request: the connection is replaced.
 */
export class UnexpectedReply extends Error {
  override readonly name = 'UnexpectedReply';
}

/** The dependencies of a {@link Redis}. */
export interface RedisParts<Client> {
  /** Creates a client without connecting it: `createClient` of the package `redis`. */
  readonly createClient: (options: RedisClientOptions) => Client;
  /** The same for `redis+cluster` addresses, which are rejected without it: `createCluster`. It must have the commands that are run. */
  readonly createCluster?: (options: RedisClusterOptions) => RedisClientLike;
  /** The same for `redis+sentinel` addresses: `createSentinel`. */
  readonly createSentinel?: (options: RedisSentinelOptions) => RedisClientLike;
  /** Receives each kind of trouble at most every 5 s, never a password. */
  readonly log: Logger;
  /** Creates the errors of {@link Redis.run}. */
  readonly unavailable: (detail: string, cause?: unknown) => Error;
  /** Time for a command on a connection, in milliseconds. Default: 800. */
  readonly deadlineMs?: number;
  /** How long a command waits for a connection, in milliseconds. Default: 700. */
  readonly connectWaitMs?: number;
  /** While Redis does not respond, one command in this time tests whether it is available again, and the others fail at once. Default: 250 ms. */
  readonly probeEveryMs?: number;
}

const COMMAND_DEADLINE_MS = 800;
const CONNECT_WAIT_MS = 700;
const READY_POLL_MS = 10;
const PROBE_EVERY_MS = 250;
/** Redis does not respond if this many commands in a row, or one for this long, have no response: a single late response is no outage. */
const SILENT_MISSES = 3;
const SILENT_MS = 500;
/** A client that takes longer to connect is replaced: one server of a cluster or a sentinel may accept connections without a response. */
const STALLED_MS = 2000;
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
  const open = clientFactory(options, parts);
  const report = createReport(parts.log);
  const connections = Array.from({ length: options.poolSize || 1 }, () => createConnection(open, parts, report));
  let turn = 0;
  return {
    run: (command, how) => connections[turn++ % connections.length]!.run(command, how),
    disconnect() {
      for (const connection of connections) connection.disconnect();
    },
  };
}

function createConnection<Client extends RedisClientLike>(
  open: () => Client,
  parts: RedisParts<Client>,
  report: Report,
): Redis<Client> {
  const { unavailable, probeEveryMs = PROBE_EVERY_MS, connectWaitMs = CONNECT_WAIT_MS } = parts;
  let client: Client | undefined;
  let openedAt = 0;
  let waiting = 0;
  /** When commands of a group last had no response; the group of all is ''. */
  const silentSince = new Map<string, number>();
  /** Commands of a group without a response since the last one that had one. */
  const missedInRow = new Map<string, number>();
  /** Groups whose last command failed. */
  const failing = new Set<string>();
  let missed = 0;
  let replaced = 0;
  let trouble: unknown;

  /** Errors of a connection that was dropped say nothing about the next one. */
  function note(error: unknown, from: Client | undefined): void {
    if (from !== client) return;
    trouble = error;
    report.failed(error);
  }

  function current(): Client {
    if (client?.isOpen && (client.isReady || performance.now() - openedAt < STALLED_MS)) {
      if (client.isReady) openedAt = performance.now();
      return client;
    }
    drop();
    const made = open();
    client = made;
    openedAt = performance.now();
    made.on('error', (error) => note(error, made));
    made.connect().catch((error: unknown) => note(error, made));
    return made;
  }

  function drop(): void {
    const gone = client;
    client = undefined;
    if (gone) destroy(gone);
  }

  /** Begins the time in which other commands of the group fail at once, if Redis does not respond. */
  function noteMissed(group: string, deadlineMs: number): void {
    const count = (missedInRow.get(group) ?? 0) + 1;
    missedInRow.set(group, count);
    missed++;
    if (count >= SILENT_MISSES || deadlineMs >= SILENT_MS) silentSince.set(group, performance.now());
  }

  function failed(error: unknown, used: Client | undefined, { group, deadlineMs }: Required<RunOptions>): Error {
    failing.add(group);
    if (error !== NOT_CONNECTED) note(error, used);
    if (error === LATE) noteMissed(group, deadlineMs);
    const isMoved = error instanceof Error && (error instanceof UnexpectedReply || MOVED.test(error.message));
    if (missed >= MAX_MISSED || isMoved) {
      missed = 0;
      // The next connection may find the primary; one that does not either must not be replaced for every command.
      if (replaced++ > 0) silentSince.set(group, performance.now());
      drop();
    }
    if (error === NOT_CONNECTED && connectWaitMs > 0) silentSince.set(group, performance.now());
    if (error === NOT_CONNECTED && trouble) return unavailable(troubleOf(trouble), trouble);
    return unavailable((error as Error).message, error);
  }

  async function run<T>(command: (client: Client) => Promise<T>, options: RunOptions = {}): Promise<T> {
    const { deadlineMs = parts.deadlineMs ?? COMMAND_DEADLINE_MS, group = '' } = options;
    if (waiting >= MAX_WAITING) throw unavailable('too many commands are waiting');
    const silent = silentSince.get(group);
    if (silent !== undefined) {
      if (performance.now() - silent < probeEveryMs) throw unavailable('no response to recent commands');
      silentSince.set(group, performance.now());
    }
    waiting++;
    let used: Client | undefined;
    try {
      used = current();
      const work = whenReady(used, connectWaitMs).then(command);
      const result = await withDeadline(work, deadlineMs, () => silentSince.delete(group));
      silentSince.delete(group);
      missedInRow.delete(group);
      missed = 0;
      replaced = 0;
      trouble = undefined;
      failing.delete(group);
      if (failing.size === 0) report.recovered();
      return result;
    } catch (error) {
      throw failed(error === LATE && !used!.isReady ? NOT_CONNECTED : error, used, { group, deadlineMs });
    } finally {
      waiting--;
    }
  }

  return { run, disconnect: drop };
}

/** That of sentinels is asynchronous, and fails while it connects. */
function destroy(client: RedisClientLike): void {
  try {
    Promise.resolve(client.destroy()).catch(() => {});
  } catch {
    // A client that is not open has nothing to close.
  }
}

/**
 * Waits for the connection: a client that is connecting rejects commands. The time is counted in steps, of which at most one passes while this process is
 * blocked.
 */
async function whenReady<Client extends RedisClientLike>(client: Client, waitMs: number): Promise<Client> {
  for (let left = waitMs; !client.isReady && left > 0; left -= READY_POLL_MS) await wait(READY_POLL_MS);
  if (!client.isReady) throw NOT_CONNECTED;
  return client;
}
