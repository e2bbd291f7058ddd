import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../observe/logger.ts';
import type { Counter } from '../../observe/metrics.ts';
import { parseKeys, type KeyRules, type KeySet } from './key-set.ts';
import { JWT_STATUS, type JwtFailure } from './status.ts';

/** Unknown key ids cause at most one fetch in this time. */
export const REFETCH_COOLDOWN_MS = 30_000;
/**
 * Milliseconds between two attempts while there are no keys. An earlier request waits for the next attempt, so that a
 * user who has just logged in at a provider that is available again is not rejected.
 */
export const FIRST_KEYS_RETRY_MS = 250;
/** Maximum number of requests that wait for the next attempt: any client can send tokens while the provider is unavailable. */
export const MAX_WAITING = 1000;
/** The same failure is logged at most once in this time. */
const LOG_EVERY_MS = 5000;
/** Share of the cache time after which a request starts a fetch without waiting for it. */
const REFRESH_AHEAD = 0.8;
/** Maximum duration of a fetch. */
export const FETCH_TIMEOUT_MS = 5000;

/** Never reused: a cache of verified tokens may outlive the source of their keys. */
let versions = 0;

/** Provides the keys of an issuer. Its functions never reject. */
export interface KeySource {
  /** Returns the cached keys while they are fresh. */
  fresh(): KeySet | undefined;
  /** Returns the keys, after a fetch if necessary. Concurrent callers share one fetch. */
  get(): Promise<KeySet | JwtFailure>;
  /** Returns keys newer than `known`, because a token names a key that `known` lacks; `undefined` if there are none yet. */
  refetch(known: KeySet): Promise<KeySet | undefined>;
  /** True if the keys are too old and no fetch was attempted since: call `get` before you verify with them. */
  readonly stale: boolean;
  /** Starts a fetch if the keys will soon be too old. */
  refreshAhead(): void;
  /** Number of the key set, unique in the process. A verified token stays verified while it is the same. */
  readonly version: number;
  /** Number of fetches that were started. */
  readonly fetches: number;
  /** True if these keys are the current ones and come from a fetch that started after the first `fetches` ones. */
  isNewerThan(keys: KeySet, fetches: number): boolean;
  /** Why the last fetch failed, if it rejected. */
  readonly error?: unknown;
}

/** Creates a source of keys that never change. */
export function localKeys(keys: KeySet): KeySource {
  return {
    fresh: () => keys,
    get: async () => keys,
    refetch: async () => undefined,
    refreshAhead: () => undefined,
    stale: false,
    version: ++versions,
    fetches: 0,
    isNewerThan: () => false,
  };
}

export interface RemoteKeysOptions extends KeyRules {
  /** Fetches the document; rejects if that fails. */
  readonly fetchText: () => Promise<string>;
  /** Milliseconds that fetched keys are fresh. */
  readonly cacheMs: number;
  /** Maximum wait for a fetch while there are keys, and for the next attempt while there are none. Default: unlimited. */
  readonly patienceMs?: number;
  readonly now: () => number;
  /** Resolves after a time. Default: a timer that does not keep the process alive. */
  readonly wait?: (ms: number) => Promise<void>;
  readonly log: Logger;
  /** Fields of log lines. */
  readonly from: Readonly<Record<string, string>>;
  readonly stats?: { readonly success: Counter; readonly failed: Counter };
}

/**
 * Creates a source of keys that are fetched. Makes no call before the first `get`. While fetches fail or return unusable
 * documents, the last good keys stay in use.
 */
export function remoteKeys(options: RemoteKeysOptions): KeySource {
  const { now, cacheMs, patienceMs = Infinity } = options;
  const wait = options.wait ?? ((ms: number) => delay(ms, undefined, { ref: false }));
  const document = createDocument(options);
  let refetchedAt = -Infinity;
  let fetches = 0;
  let fetching: { readonly done: Promise<void>; readonly patience: Promise<void> } | undefined;
  let cooling: Promise<void> | undefined;
  let waiting = 0;

  function startFetch(): NonNullable<typeof fetching> {
    if (fetching) return fetching;
    const done = document.fetch(++fetches).finally(() => {
      fetching = undefined;
    });
    const patience = patienceMs === Infinity || !document.keys ? done : wait(patienceMs);
    return (fetching = { done, patience });
  }

  async function fetchKeys(): Promise<void> {
    const { done, patience } = startFetch();
    await (document.keys ? Promise.race([done, patience]) : done);
  }

  function coolDown(ms: number): Promise<void> {
    cooling ??= wait(ms).finally(() => {
      cooling = undefined;
    });
    return cooling;
  }

  async function retryFirstKeys(): Promise<void> {
    const ms = Math.min(FIRST_KEYS_RETRY_MS, document.failedAt + FIRST_KEYS_RETRY_MS - now());
    if (waiting >= MAX_WAITING || ms > patienceMs) return;
    waiting++;
    try {
      if (ms > 0) await coolDown(ms);
      await fetchKeys();
    } finally {
      waiting--;
    }
  }

  /** Milliseconds since a time; infinite if the clock was set back since, so that nothing stays fresh until it catches up. */
  const since = (time: number): number => (now() < time ? Infinity : now() - time);
  const isYounger = (ms: number): boolean => document.keys !== undefined && since(document.fetchedAt) < ms;
  const mayRetry = (): boolean => since(document.failedAt) >= Math.min(REFETCH_COOLDOWN_MS, cacheMs);

  return {
    fresh: () => (isYounger(cacheMs) ? document.keys : undefined),
    async get() {
      if (isYounger(cacheMs)) return document.keys!;
      if (!document.keys && document.failedAt > -Infinity) await retryFirstKeys();
      else if (fetching || mayRetry()) await fetchKeys();
      return document.keys ?? document.failure;
    },
    async refetch(known) {
      if (document.keys && document.keys !== known) return document.keys;
      if (!fetching) {
        if (since(refetchedAt) < REFETCH_COOLDOWN_MS) return undefined;
        refetchedAt = now();
      }
      await fetchKeys();
      return document.keys === known ? undefined : document.keys;
    },
    refreshAhead() {
      if (!fetching && !isYounger(cacheMs * REFRESH_AHEAD) && mayRetry()) startFetch();
    },
    get stale() {
      return !isYounger(cacheMs) && document.failedAt < document.fetchedAt;
    },
    get version() {
      return document.version;
    },
    get fetches() {
      return fetches;
    },
    isNewerThan: (keys, count) => keys === document.keys && document.fetchedBy > count,
    get error() {
      return document.error;
    },
  };
}

interface Document {
  readonly keys: KeySet | undefined;
  readonly version: number;
  readonly fetchedAt: number;
  /** Number of the fetch that returned the keys. */
  readonly fetchedBy: number;
  readonly failedAt: number;
  /** Why there are no keys. */
  readonly failure: JwtFailure;
  readonly error: unknown;
  /** Never rejects. */
  fetch(number: number): Promise<void>;
}

/** Stores the newest usable document. An identical text is the same set, so that tokens stay verified. */
function createDocument({ fetchText, now, log, from, stats, ...rules }: RemoteKeysOptions): Document {
  let text = '';
  let warned = { message: '', at: -Infinity };
  const document = {
    keys: undefined as KeySet | undefined,
    version: ++versions,
    fetchedAt: -Infinity,
    fetchedBy: 0,
    failedAt: -Infinity,
    failure: 'keysUnreachable' as JwtFailure,
    error: undefined as unknown,
    async fetch(number: number): Promise<void> {
      try {
        take(await fetchText(), number);
      } catch (error) {
        fail('keysUnreachable', error);
        warn({ err: error }, 'key set cannot be fetched');
      }
    },
  };

  function warn(details: object, what: string): void {
    const consequence = document.keys ? 'the keys known so far are kept' : 'its tokens are refused until there is one';
    const message = `${what}, ${consequence}`;
    if (message === warned.message && Math.abs(now() - warned.at) < LOG_EVERY_MS) return;
    warned = { message, at: now() };
    log.warn({ ...from, ...details }, message);
  }

  function fail(reason: JwtFailure, error?: unknown): void {
    if (stats) stats.failed.value++;
    document.failure = reason;
    document.error = error;
    document.failedAt = now();
  }

  function take(fetched: string, number: number): void {
    const read = document.keys && fetched === text ? document.keys : parseKeys(fetched, rules);
    if (typeof read === 'string') {
      fail(read);
      warn({ reason: JWT_STATUS[read].text }, 'key set refused');
      return;
    }
    if (stats) stats.success.value++;
    if (read !== document.keys) document.version = ++versions;
    text = fetched;
    document.keys = read;
    document.fetchedAt = now();
    document.fetchedBy = number;
    if (read.size === 0) log.warn(from, "no key in the key set has an id and the use 'sig': no token will do");
  }

  return document;
}
