import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError, type Counter, type Logger } from '@edge-gateway/core';
import { JWT_STATUS, type JwtFailure } from './jwt-status.ts';
import { parseKeys, type KeySet } from './key-set.ts';

/** Because of keys that the set does not have it is fetched again at most once in this time. */
export const REFETCH_COOLDOWN_MS = 30_000;
/**
 * Milliseconds between two attempts while there are no keys at all. A request that comes earlier waits for the next attempt, so that a
 * user who has just logged in at a provider that is available again is not rejected.
 */
export const FIRST_KEYS_RETRY_MS = 250;
/** Most requests that wait for an attempt after one has failed: anybody can send tokens while the provider is unavailable. */
export const MAX_WAITING = 1000;
/** The same failure is logged at most once in this time. */
const LOG_EVERY_MS = 5000;
/** Share of the cache time after which a request has newer keys fetched, without waiting for them. */
const REFRESH_AHEAD = 0.8;
/** A fetch that takes longer has failed. */
export const FETCH_TIMEOUT_MS = 5000;

/** Where the keys of a provider come from. A failure is given, not thrown. */
export interface KeySource {
  /** The keys at hand without waiting, while they are fresh. */
  fresh(): KeySet | undefined;
  /** The keys, fetched if need be. Callers at the same time share one fetch. */
  get(): Promise<KeySet | JwtFailure>;
  /** Newer keys than `known` because a token names one that it does not have; `undefined` when none can be had now. */
  refetch(known: KeySet): Promise<KeySet | undefined>;
  /** The keys are too old, and nobody has tried to have newer ones since: nothing is to be decided by them before that. */
  readonly stale: boolean;
  /** Has keys fetched that will be too old soon; nobody waits for them. */
  refreshAhead(): void;
  /** Counts the key sets that came and were new; a cached verdict is good for one of them. */
  readonly version: number;
}

/** A source of keys that are written in the resource. Throws `ERR_RBAC_KEYS`, which says what is wrong with them. */
export function localKeys(provider: string, text: string): KeySource {
  const keys = parseKeys(text);
  if (typeof keys === 'string') {
    const message = `provider ${provider}: the local keys cannot be used: ${JWT_STATUS[keys].text}`;
    throw new GatewayError(message, { code: 'ERR_RBAC_KEYS' });
  }
  return {
    fresh: () => keys,
    get: async () => keys,
    refetch: async () => undefined,
    refreshAhead: () => undefined,
    stale: false,
    version: 1,
  };
}

export interface RemoteKeysOptions {
  /** Fetches the document; rejects when it cannot be had. */
  readonly fetchText: () => Promise<string>;
  /** Milliseconds that fetched keys are fresh. */
  readonly cacheMs: number;
  readonly now: () => number;
  /** Resolves after a time. Default: a timer that does not keep the process alive. */
  readonly wait?: (ms: number) => Promise<void>;
  readonly log: Logger;
  /** What log lines name. */
  readonly from: { readonly provider: string; readonly server: string };
  readonly stats: { readonly success: Counter; readonly failed: Counter };
}

/**
 * A source of keys behind HTTP. Makes no call before the first `get`. A failed or unusable answer keeps the keys that
 * were there, for as long as nothing better comes.
 */
export function remoteKeys(options: RemoteKeysOptions): KeySource {
  const { now, wait = (ms: number) => delay(ms, undefined, { ref: false }) } = options;
  const document = createDocument(options);
  let refetchedAt = -Infinity;
  let fetching: Promise<void> | undefined;
  let cooling: Promise<void> | undefined;
  let waiting = 0;

  function fetchKeys(): Promise<void> {
    fetching ??= document.fetch().finally(() => {
      fetching = undefined;
    });
    return fetching;
  }

  function coolDown(): Promise<void> | undefined {
    const ms = Math.min(FIRST_KEYS_RETRY_MS, document.failedAt + FIRST_KEYS_RETRY_MS - now());
    if (ms <= 0) return undefined;
    cooling ??= wait(ms).finally(() => {
      cooling = undefined;
    });
    return cooling;
  }

  async function retryFirstKeys(): Promise<void> {
    if (waiting >= MAX_WAITING) return;
    waiting++;
    try {
      await coolDown();
      await fetchKeys();
    } finally {
      waiting--;
    }
  }

  const isYounger = (ms: number): boolean => document.keys !== undefined && now() - document.fetchedAt < ms;
  const mayRetry = (): boolean => now() - document.failedAt >= Math.min(REFETCH_COOLDOWN_MS, options.cacheMs);

  return {
    fresh: () => (isYounger(options.cacheMs) ? document.keys : undefined),
    async get() {
      if (isYounger(options.cacheMs)) return document.keys!;
      if (!document.keys && document.failedAt > -Infinity) await retryFirstKeys();
      else if (fetching || mayRetry()) await fetchKeys();
      return document.keys ?? document.failure;
    },
    async refetch(known) {
      if (document.keys && document.keys !== known) return document.keys;
      if (!fetching) {
        if (now() - refetchedAt < REFETCH_COOLDOWN_MS) return undefined;
        refetchedAt = now();
      }
      await fetchKeys();
      return document.keys === known ? undefined : document.keys;
    },
    refreshAhead() {
      if (!fetching && !isYounger(options.cacheMs * REFRESH_AHEAD) && mayRetry()) void fetchKeys();
    },
    get stale() {
      return !isYounger(options.cacheMs) && document.failedAt < document.fetchedAt;
    },
    get version() {
      return document.version;
    },
  };
}

interface Document {
  readonly keys: KeySet | undefined;
  readonly version: number;
  readonly fetchedAt: number;
  readonly failedAt: number;
  /** Why there are no keys. */
  readonly failure: JwtFailure;
  /** Never rejects. */
  fetch(): Promise<void>;
}

/** The document at its newest. The same text again is the same set, so that tokens stay verified. */
function createDocument({ fetchText, now, log, from, stats }: RemoteKeysOptions): Document {
  let text = '';
  const document = {
    keys: undefined as KeySet | undefined,
    version: 0,
    fetchedAt: -Infinity,
    failedAt: -Infinity,
    failure: 'keysUnreachable' as JwtFailure,
    async fetch(): Promise<void> {
      try {
        take(await fetchText());
      } catch (error) {
        fail('keysUnreachable');
        warn({ err: error }, `key set cannot be fetched, ${consequence()}`);
      }
    },
  };

  const consequence = (): string =>
    document.keys ? 'the keys known so far are kept' : 'its tokens are refused until there is one';

  let warned = { message: '', at: -Infinity };
  function warn(details: object, message: string): void {
    if (message === warned.message && Math.abs(now() - warned.at) < LOG_EVERY_MS) return;
    warned = { message, at: now() };
    log.warn({ ...from, ...details }, message);
  }

  function fail(reason: JwtFailure): void {
    stats.failed.value++;
    document.failure = reason;
    document.failedAt = now();
  }

  function take(fetched: string): void {
    const read = document.keys && fetched === text ? document.keys : parseKeys(fetched);
    if (typeof read === 'string') {
      fail(read);
      warn({ reason: JWT_STATUS[read].text }, `key set refused, ${consequence()}`);
      return;
    }
    stats.success.value++;
    if (read !== document.keys) document.version++;
    text = fetched;
    document.keys = read;
    document.fetchedAt = now();
  }

  return document;
}
