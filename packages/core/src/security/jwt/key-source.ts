import type { Logger } from '../../observe/logger.ts';
import type { Counter } from '../../observe/metrics.ts';
import { parseKeys, type KeyRules, type KeySet } from './key-set.ts';
import { JWT_STATUS, type JwtFailure } from './status.ts';
import { wait } from '../../time/timer.ts';

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
  /** Returns the keys, after a fetch if necessary. Concurrent callers share one fetch. A trusted token always waits for it. */
  get(waiting?: Pick<WaitingToken, 'trusted'>): Promise<KeySet | JwtFailure>;
  /**
   * Returns keys newer than `known`, because a token names a key that `known` lacks; `undefined` if there are none yet.
   * Returns why there are none only for a trusted token.
   */
  refetch(known: KeySet, waiting?: WaitingToken): Promise<KeySet | JwtFailure | undefined>;
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

/** A token whose key is not known yet. */
export interface WaitingToken {
  /** `fetches` of the source when the token arrived: a fetch that started later has its key. Default: the current number. */
  readonly fetches?: number;
  /** True for a token that came from the issuer itself: it always waits, and its signature may be that of a replaced key. */
  readonly trusted?: boolean;
  /** Called before a fetch. Default: true. */
  readonly mayFetch?: () => boolean;
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
  /** Minimum milliseconds between two fetches for unknown key ids. Default: 30,000. */
  readonly coolDownMs?: number;
  /**
   * True: tokens wait for the first keys and for unknown ones, up to 1,000, until they may be fetched, and for the fetch.
   * Default: false.
   */
  readonly awaitsKeys?: boolean;
  readonly now: () => number;
  /** Resolves after a time. Default: a timer that does not keep the process alive. */
  readonly wait?: (ms: number) => Promise<void>;
  readonly log: Logger;
  /** Fields of log lines. */
  readonly from: Readonly<Record<string, string>>;
  readonly stats?: { readonly success?: Counter; readonly failed: Counter };
}

/**
 * Creates a source of keys that are fetched. Makes no call before the first `get`. While fetches fail or return unusable
 * documents, the last good keys stay in use.
 */
export function remoteKeys(options: RemoteKeysOptions): KeySource {
  const { now, cacheMs, patienceMs = Infinity, coolDownMs = REFETCH_COOLDOWN_MS, awaitsKeys = false } = options;
  const waitMs = options.wait ?? ((ms: number) => wait(ms, undefined, { ref: false }));
  const document = createDocument(options);
  let refetchedAt = -Infinity;
  let fetches = 0;
  let fetching: { readonly done: Promise<boolean>; readonly patience: Promise<unknown> } | undefined;
  let cooling: Promise<void> | undefined;
  let waiting = 0;

  function startFetch(): NonNullable<typeof fetching> {
    if (fetching) return fetching;
    const done = document.fetch(++fetches).finally(() => {
      fetching = undefined;
    });
    const patience = patienceMs === Infinity || !document.keys ? done : waitMs(patienceMs);
    return (fetching = { done, patience });
  }

  /** Returns true if usable keys arrived within the patience. */
  async function fetchKeys(): Promise<boolean> {
    const { done, patience } = startFetch();
    return (await (document.keys ? Promise.race([done, patience]) : done)) === true;
  }

  /** Waits, shared with all others, and then runs `attempt`; returns `undefined` if too many wait. */
  async function afterCoolDown<T>(ms: number, attempt: () => T, trusted = false): Promise<T | undefined> {
    if (waiting >= MAX_WAITING && !trusted) return undefined;
    waiting++;
    try {
      if (ms > 0) {
        cooling ??= waitMs(ms).finally(() => {
          cooling = undefined;
          refetchedAt = -Infinity;
        });
        await cooling;
      }
      return await attempt();
    } finally {
      waiting--;
    }
  }

  async function retryFirstKeys(trusted?: boolean): Promise<void> {
    const ms = Math.min(FIRST_KEYS_RETRY_MS, document.failedAt + FIRST_KEYS_RETRY_MS - now());
    if (awaitsKeys || ms <= patienceMs) await afterCoolDown(ms, fetchKeys, trusted);
  }

  /** Milliseconds since a time; infinite if the clock was set back since, so that nothing stays fresh until it catches up. */
  const since = (time: number): number => (now() < time ? Infinity : now() - time);
  const isYounger = (ms: number): boolean => document.keys !== undefined && since(document.fetchedAt) < ms;
  const mayRetry = (): boolean => since(document.failedAt) >= Math.min(REFETCH_COOLDOWN_MS, cacheMs);

  return {
    fresh: () => (isYounger(cacheMs) ? document.keys : undefined),
    async get({ trusted } = {}) {
      if (isYounger(cacheMs)) return document.keys!;
      if (!document.keys && document.failedAt > -Infinity) await retryFirstKeys(trusted);
      else if (fetching || mayRetry()) await fetchKeys();
      return document.keys ?? document.failure;
    },
    async refetch(known, { fetches: before = fetches, trusted = false, mayFetch = () => true } = {}) {
      while (document.keys === known && document.fetchedBy <= before) {
        const ms = fetching ? 0 : coolDownMs - since(refetchedAt);
        if (ms > 0) {
          if (!awaitsKeys || !(await afterCoolDown(ms, () => true, trusted))) return undefined;
          continue;
        }
        if (!fetching) {
          if (!mayFetch()) return undefined;
          refetchedAt = now();
        }
        const arrived = await (awaitsKeys ? startFetch().done : fetchKeys());
        if (!arrived) return trusted ? document.failure : undefined;
      }
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

/** Stores the newest usable document. An identical text is the same set, so that tokens stay verified. */
function createDocument({ fetchText, now, log, from, stats, ...rules }: RemoteKeysOptions) {
  let text = '';
  let warned = { message: '', at: -Infinity };
  const document = {
    keys: undefined as KeySet | undefined,
    version: ++versions,
    fetchedAt: -Infinity,
    /** Number of the fetch that returned the keys. */
    fetchedBy: 0,
    failedAt: -Infinity,
    /** Why there are no keys. */
    failure: 'keysUnreachable' as JwtFailure,
    error: undefined as unknown,
    /** Returns true if usable keys arrived. Never rejects. */
    async fetch(number: number): Promise<boolean> {
      try {
        return take(await fetchText(), number);
      } catch (error) {
        fail('keysUnreachable', error);
        warn({ err: error }, 'failed to fetch key set');
        return false;
      }
    },
  };

  function warn(details: object, what: string): void {
    const consequence = document.keys ? 'keeping the previous keys' : 'rejecting its tokens until there is one';
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

  function take(fetched: string, number: number): boolean {
    const read = document.keys && fetched === text ? document.keys : parseKeys(fetched, rules);
    if (typeof read === 'string') {
      fail(read);
      warn({ reason: JWT_STATUS[read].text }, 'key set rejected');
      return false;
    }
    if (stats?.success) stats.success.value++;
    if (read !== document.keys) document.version = ++versions;
    text = fetched;
    document.keys = read;
    document.fetchedAt = now();
    document.fetchedBy = number;
    if (read.size === 0) log.warn(from, "no key in the key set has an id and the use 'sig', rejecting all tokens");
    return true;
  }

  return document;
}
