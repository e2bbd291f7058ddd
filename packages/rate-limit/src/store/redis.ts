import {
  createMetrics,
  createRedis,
  readRedisAddress,
  type Logger,
  type Metrics,
  type Redis,
  type RedisClientOptions,
} from '@edge-gateway/core';
import type { createClient } from 'redis';
import { rateLimitError } from '../error-codes.ts';
import { Batch, kindOf, type PendingCall } from './redis-batch.ts';
import { redisStoreMetrics } from './redis-metrics.ts';
import { SCRIPT, SCRIPT_SHA } from './redis-script.ts';
import { hashTagOf } from './redis-shards.ts';
import type { Charge, Count, Store } from './store.ts';

/** Options of {@link createRedisStore}. */
export interface RedisStoreOptions {
  /**
   * `redis://user:password@host:port/db`, `rediss://…` (TLS), `unix://path`, `redis+cluster://host:port,host:port` or
   * `redis+sentinel://host:port,host:port/name`, as `readRedisAddress` parses it.
   */
  readonly url: string;
  /** Directory with `ca.crt`, and `tls.crt` and `tls.key` for a client certificate, for TLS. Default: the roots of Node.js. */
  readonly certificates?: string | undefined;
  /** Receives a warning when Redis becomes unavailable, never a password. */
  readonly log: Logger;
  readonly metrics?: Metrics;
  /** Prefix of all keys, without braces. Stores with the same prefix share their counters. Default: `rate-limit:`. */
  readonly prefix?: string;
  /** Maximum number of charges without a response; more are rejected at once. Default: 20,000. */
  readonly maxWaiting?: number;
}

type Client = ReturnType<typeof createClient>;

const DEFAULT_PREFIX = 'rate-limit:';
const DEFAULT_MAX_WAITING = 20_000;
/** Keys of one command: Redis does nothing else while it executes one, about 0.5 ms. */
const MAX_KEYS = 500;
const MAX_DEADLINE_MS = 60_000;
const WARN_EVERY_MS = 5000;
/** How long charges wait for further ones while a command has no response. */
const GATHER_MS = 1;
/** Charges with a shorter deadline do not wait. */
const MIN_GATHER_DEADLINE_MS = 10;
/** Charges whose deadlines differ by less than this share are sent together, with the earliest one. */
const DEADLINE_SHARE = 1 / 8;

/**
 * Creates counters on Redis 6.2 or later, shared by all processes with the same Redis and prefix. They are exact, and windows follow the clock of
 * Redis. All charges of one turn of the event loop are one command; on a cluster, one per shard group. While a command has no response, further charges
 * wait for it, 1 ms at most, so that a busy process sends few commands. Connects at once, and again whenever
 * the connection is lost; meanwhile `count` rejects with `ERR_RATE_LIMIT_STORE` within its deadline. Throws `ERR_RATE_LIMIT_REDIS` for an
 * invalid URL, without repeating it.
 *
 * A charge that was sent before its deadline may be counted although it is rejected.
 *
 * @example
 * const store = createRedisStore({ url: 'redis://127.0.0.1:6379', log: log.get('redis') });
 * await store.count([{ key: 'custom|remote_address|192.0.2.1', limit, cost: 1 }], 100); // [{ isOver: false, remaining: 9, resetMs: 350 }]
 */
export function createRedisStore(options: RedisStoreOptions): Store {
  const { prefix = DEFAULT_PREFIX, maxWaiting = DEFAULT_MAX_WAITING, metrics = createMetrics(), log } = options;
  const isCluster = checked(options);
  const { time, errors, rejected } = redisStoreMetrics(metrics);
  const tooMany = unavailable('too many checks are waiting');
  const batches = new Map<string, Batch>();
  /** Of the charges in `batches`, and the time at which the first of them was added. */
  let deadlineMs = 0;
  let gatheredAt = 0;
  let isScheduled = false;
  let timer: NodeJS.Timeout | undefined;
  /** Commands without a response. */
  let inProgress = 0;
  let isClosed = false;
  let waiting = 0;
  let warnedAt = -Infinity;
  let redis: Redis<Client> | undefined;

  /** Loads the client only if it is used. */
  const loading = connect(options).then((connected) => {
    redis = connected;
    // The first command connects.
    if (!isClosed) connected.run((client) => client.ping()).catch(() => {});
    return connected;
  });
  // Commands report it.
  loading.catch(() => {});

  function rejectedAtOnce(charges: number): Promise<never> {
    rejected.value += charges;
    const now = performance.now();
    if (now - warnedAt > WARN_EVERY_MS) {
      warnedAt = now;
      log.warn({ maxWaiting }, 'rate limit checks rejected: too many are waiting for Redis');
    }
    return Promise.reject(tooMany);
  }

  function add(charges: readonly Charge[], call: PendingCall): void {
    for (let place = 0; place < charges.length; place++) {
      const charge = charges[place]!;
      const { key } = charge;
      const group = isCluster ? hashTagOf(key) : '';
      let batch = batches.get(group);
      if (!batch) batches.set(group, (batch = new Batch()));
      batch.add(`${isCluster ? `${prefix}{${group}}` : prefix}${kindOf(charge.limit)}|${key}`, charge, call, place);
      if (batch.keys.length >= MAX_KEYS) {
        batches.delete(group);
        void send(batch, group);
      }
    }
  }

  /** Sends what was gathered in this turn of the event loop; while a command has no response, later. */
  function schedule(): void {
    if (isScheduled) return;
    if (inProgress === 0 || deadlineMs < MIN_GATHER_DEADLINE_MS) {
      isScheduled = true;
      setImmediate(flush);
    } else timer ??= setTimeout(flush, GATHER_MS);
  }

  function flush(): void {
    isScheduled = false;
    clearTimeout(timer);
    timer = undefined;
    for (const [group, batch] of batches) void send(batch, group);
    batches.clear();
  }

  async function send(batch: Batch, group: string): Promise<void> {
    const charges = batch.keys.length;
    const withinMs = deadlineMs;
    const startedAt = gatheredAt;
    const parts = batch.seal();
    inProgress++;
    try {
      const connected = redis ?? (await loading);
      if (isClosed) throw unavailable('closed');
      const sentAt = performance.now();
      const leftMs = withinMs - (sentAt - startedAt);
      if (leftMs <= 0) throw unavailable('no connection yet');
      const how = { deadlineMs: leftMs, group };
      const reply = await connected.run(async (client) => batch.checked(await execute(client, parts)), how);
      time.observe(performance.now() - sentAt);
      completed(charges);
      batch.resolve(reply);
    } catch (error) {
      completed(charges);
      errors.value++;
      rejected.value += charges;
      batch.reject(error);
    }
  }

  function completed(charges: number): void {
    waiting -= charges;
    inProgress--;
    if (batches.size > 0) schedule();
  }

  /** Gathers charges with similar deadlines only. */
  function gatherWithin(withinMs: number): void {
    if (batches.size > 0) {
      if (Math.abs(withinMs - deadlineMs) <= deadlineMs * DEADLINE_SHARE) {
        if (withinMs < deadlineMs) deadlineMs = withinMs;
        return;
      }
      flush();
    }
    deadlineMs = withinMs;
    gatheredAt = performance.now();
  }

  return {
    count(charges, wantedMs) {
      if (charges.length === 0) return [];
      if (waiting + charges.length > maxWaiting) return rejectedAtOnce(charges.length);
      gatherWithin(Math.min(wantedMs, MAX_DEADLINE_MS));
      waiting += charges.length;
      return new Promise<readonly Count[]>((resolve, reject) => {
        add(charges, { counts: [], left: charges.length, resolve, reject });
        if (batches.size > 0) schedule();
      });
    },
    close() {
      isClosed = true;
      flush();
      redis?.disconnect();
    },
  };
}

function unavailable(detail: string, cause?: unknown): Error {
  return rateLimitError('ERR_RATE_LIMIT_STORE', `rate limits on Redis: ${detail}`, { cause });
}

/** Returns true for a cluster. Throws `ERR_RATE_LIMIT_REDIS`. */
function checked({ url, prefix = '' }: RedisStoreOptions): boolean {
  if (/[{}]/.test(prefix))
    throw rateLimitError('ERR_RATE_LIMIT_REDIS', `invalid prefix "${prefix}": braces are not allowed`);
  try {
    return readRedisAddress({ host: url }).cluster !== undefined;
  } catch (error) {
    throw rateLimitError('ERR_RATE_LIMIT_REDIS', (error as Error).message);
  }
}

async function connect({ url, certificates, log }: RedisStoreOptions): Promise<Redis<Client>> {
  const { createClient, createCluster, createSentinel } = await import('redis');
  return createRedis<Client>(
    { host: url, ...(certificates !== undefined && { tlsCertMountPath: certificates }) },
    {
      createClient: (each: RedisClientOptions) => createClient(each) as Client,
      createCluster: (each) => createCluster(each),
      createSentinel: (each) => createSentinel(each),
      log,
      unavailable,
    },
  );
}

/** Runs the script; sends it again if Redis does not know it, e.g. after a restart. */
async function execute(
  client: Client,
  parts: { readonly keys: string[]; readonly arguments: string[] },
): Promise<unknown> {
  try {
    return await client.evalSha(SCRIPT_SHA, parts);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return client.eval(SCRIPT, parts);
  }
}
