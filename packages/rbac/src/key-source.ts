import { GatewayError, type Logger } from '@edge-gateway/core';
import type { JwtFailure } from './jwt-status.ts';
import { parseKeys, type KeySet } from './key-set.ts';

/** After a key that the set does not have, it is fetched again at most once in this time. */
export const REFETCH_COOLDOWN_MS = 30_000;
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
  /** Counts the key sets that came; a cached verdict is good for one of them. */
  readonly version: number;
}

/** A source of keys that are written in the resource. */
export function localKeys(text: string): KeySource {
  const keys = parseKeys(text);
  if (typeof keys === 'string') throw new GatewayError('the local key set cannot be used', { code: 'ERR_RBAC_KEYS' });
  return { fresh: () => keys, get: async () => keys, refetch: async () => undefined, version: 1 };
}

export interface RemoteKeysOptions {
  /** Fetches the document; rejects when it cannot be had. */
  readonly fetchText: () => Promise<string>;
  /** Milliseconds that fetched keys are fresh. */
  readonly cacheMs: number;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * A source of keys behind HTTP. Makes no call before the first `get`. A failed or unusable answer keeps the keys that
 * were there, for as long as nothing better comes.
 */
export function remoteKeys(options: RemoteKeysOptions): KeySource {
  let keys: KeySet | undefined;
  let version = 0;
  let fetchedAt = -Infinity;
  let triedAt = -Infinity;
  let lastFailure: JwtFailure = 'keysUnreachable';
  let fetching: Promise<void> | undefined;

  async function fetchOnce(): Promise<void> {
    triedAt = options.now();
    try {
      const read = parseKeys(await options.fetchText());
      if (typeof read === 'string') {
        lastFailure = read;
        options.log.warn({ reason: read }, 'key set refused, the keys known so far are kept');
        return;
      }
      keys = read;
      version++;
      fetchedAt = options.now();
    } catch (error) {
      lastFailure = 'keysUnreachable';
      options.log.warn({ err: error }, 'key set cannot be fetched, the keys known so far are kept');
    }
  }

  function fetchKeys(): Promise<void> {
    fetching ??= fetchOnce().finally(() => {
      fetching = undefined;
    });
    return fetching;
  }

  const isFresh = (): boolean => keys !== undefined && options.now() - fetchedAt < options.cacheMs;
  const mayRetry = (): boolean => options.now() - triedAt >= (keys ? REFETCH_COOLDOWN_MS : 1000);

  return {
    fresh: () => (isFresh() ? keys : undefined),
    async get() {
      if (isFresh()) return keys!;
      if (fetching || mayRetry()) await fetchKeys();
      return keys ?? lastFailure;
    },
    async refetch(known) {
      if (keys && keys !== known) return keys;
      if (!fetching && options.now() - triedAt < REFETCH_COOLDOWN_MS) return undefined;
      await fetchKeys();
      return keys === known ? undefined : keys;
    },
    get version() {
      return version;
    },
  };
}
