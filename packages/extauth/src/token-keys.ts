import { parseDuration, type Context } from '@edge-gateway/core';
import type { JSONWebKeySet, JWK } from 'jose';
import { askJson } from './ask.ts';

const DEFAULT_REFRESH_MS = 300_000;
/** Shortest time between two reads for unknown key ids, in milliseconds. */
const COOL_DOWN_MS = 30_000;
const FETCH_TIMEOUT_MS = 5_000;

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

/** Keys behind a URL: read when needed, then every `refreshInterval`, and early, once in 30 s, for an unknown id. */
export function remoteTokenKeys(url: string, refreshInterval: string | undefined, { now, log }: Context): TokenKeys {
  const refreshMs = refreshInterval === undefined ? DEFAULT_REFRESH_MS : parseDuration(refreshInterval);
  let keys: ReadonlyMap<string, JWK> = new Map();
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;

  // Not bound to the signal of one request: all that wait share it, and the next one profits.
  const read = (): Promise<void> =>
    (reading ??= askJson(url, {
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    })
      .then((set) => {
        keys = usable(set as unknown as JSONWebKeySet);
        readAt = now();
        if (keys.size > 0) return;
        const { host } = new URL(url);
        log.get('ext_authz').warn({ host }, "no key in the key set has an id and the use 'sig': no token will do");
      })
      .finally(() => {
        reading = undefined;
      }));

  return {
    async find(kid) {
      const age = now() - readAt;
      if (age > refreshMs) {
        // Old keys do while the server is away; without any there is no judgement.
        await read().catch((error: unknown) => {
          if (readAt === -Infinity) throw error;
          log.get('ext_authz').warn({ err: error }, 'key set cannot be fetched, the keys known so far are kept');
        });
      } else if (!keys.has(kid) && age > COOL_DOWN_MS) await read();
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
