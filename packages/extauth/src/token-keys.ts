import { setTimeout as wait } from 'node:timers/promises';
import { parseDuration, type Context } from '@edge-gateway/core';
import type { JSONWebKeySet, JWK } from 'jose';
import { askJson } from './ask.ts';

const DEFAULT_REFRESH_MS = 300_000;
/** Shortest time between two reads for unknown key ids, in milliseconds. */
const COOL_DOWN_MS = 30_000;
const FETCH_TIMEOUT_MS = 5_000;
/** After a read that failed the next is made no sooner than this, in milliseconds. */
const RETRY_MS = 1_000;
/** Longest wait for newer keys when keys are cached, in milliseconds: the whole step has 200. */
const PATIENCE_MS = 100;

/** The keys that tokens are checked with. */
export interface TokenKeys {
  /** The signing key with this id. Rejects when the key set cannot be read. */
  find(kid: string): Promise<JWK | undefined>;
}

/** Keys written in the resource. Throws for what is no key set. */
export function localTokenKeys(text: string): TokenKeys {
  const keys = usable(JSON.parse(text) as JSONWebKeySet);
  return { find: (kid) => Promise.resolve(keys.get(kid)) };
}

/**
 * Keys behind a URL: read when needed, then every `refreshInterval`, and early, once in 30 s, for an unknown id. While the
 * server is away or slow, the keys known so far do.
 */
export function remoteTokenKeys(url: string, refreshInterval: string | undefined, { now, log }: Context): TokenKeys {
  const refreshMs = refreshInterval === undefined ? DEFAULT_REFRESH_MS : parseDuration(refreshInterval);
  let keys: ReadonlyMap<string, JWK> = new Map();
  let readAt = -Infinity;
  let reading: { readonly done: Promise<void>; readonly patience: Promise<unknown> } | undefined;
  let failed: { readonly error: unknown; readonly at: number } | undefined;

  async function fetchKeys(): Promise<void> {
    // Not bound to the signal of one request: all that wait share it, and the next one profits.
    const set = await askJson(url, {
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    keys = usable(set as unknown as JSONWebKeySet);
    readAt = now();
    if (keys.size > 0) return;
    const { host } = new URL(url);
    log.get('ext_authz').warn({ host }, "no key in the key set has an id and the use 'sig': no token will do");
  }

  function failedWith(error: unknown): never {
    failed = { error, at: now() };
    if (readAt > -Infinity)
      log.get('ext_authz').warn({ err: error }, 'key set cannot be fetched, the keys known so far are kept');
    throw error;
  }

  function read(): NonNullable<typeof reading> {
    const done = fetchKeys()
      .catch(failedWith)
      .finally(() => {
        reading = undefined;
      });
    return (reading ??= { done, patience: wait(PATIENCE_MS, undefined, { ref: false }) });
  }

  /** Rejects at once where the last read failed a moment ago. */
  function newer(): NonNullable<typeof reading> {
    if (reading) return reading;
    if (!failed || now() - failed.at >= RETRY_MS) return read();
    return { done: Promise.reject(failed.error as Error), patience: Promise.resolve() };
  }

  return {
    async find(kid) {
      const age = now() - readAt;
      if (age > refreshMs) {
        const { done, patience } = newer();
        if (readAt === -Infinity) await done;
        else await Promise.race([done.catch(() => {}), patience]);
      } else if (!keys.has(kid) && age > COOL_DOWN_MS) {
        const { done, patience } = newer();
        // Not a failure: otherwise `failureModeAllow` would allow a token with an invented key id while the server is unavailable.
        await Promise.race([done.catch(() => {}), patience]);
      }
      return keys.get(kid);
    },
  };
}

/** Keys without id, and those for other uses than signatures, are left out. */
function usable({ keys }: JSONWebKeySet): ReadonlyMap<string, JWK> {
  if (!Array.isArray(keys)) throw new TypeError('a key set needs keys');
  const signing = keys.filter(({ kid, use }) => typeof kid === 'string' && kid !== '' && use === 'sig');
  return new Map(signing.map((key) => [key.kid!, key]));
}
