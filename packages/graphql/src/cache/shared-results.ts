import { digest, keyedDigest, seal, unseal, type Counter } from '@edge-gateway/core';
import type { OperationRequest } from '../execute/executable-api.ts';
import type { Operation } from '../document/documents.ts';
import { ageOf, keyOf, MAX_RESULT_CHARACTERS, type CachedResult, type ResultCache } from './result-cache.ts';

/**
 * Stores results for several processes. Rejections, and values that no API has stored, count as
 * not found: requests never fail because of the store. Results are encrypted, and authenticated together with their key.
 */
export interface ResultStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
}

export interface SharedResultsOptions {
  readonly store: ResultStore;
  /** Dependencies of a result besides the request: other definitions of an API do not share results. */
  readonly scope: string;
  /** Encryption key of 32 bytes, equal for all processes that share results. */
  readonly key: () => Uint8Array;
  /** Counts entries that are forged, moved or too old. */
  readonly rejected: Counter;
  readonly now: () => number;
}

interface Place {
  readonly name: string;
  /** Key of this place only, so that few results are encrypted with one key. */
  readonly key: Uint8Array;
}

export function createSharedResults({ store, scope, key, rejected, now }: SharedResultsOptions): ResultCache {
  const scopeDigest = digest(scope);
  /** Operations whose last result was not shared: the store is not asked for them. */
  const unshared = { personal: new WeakSet<Operation>(), others: new WeakSet<Operation>() };
  const unsharedOf = ({ personal }: OperationRequest) => (personal === true ? unshared.personal : unshared.others);

  function placeOf(request: OperationRequest): Place {
    const shared = key();
    const what = `${scopeDigest}\n${keyOf(request)}`;
    const name = `graphql:${keyedDigest(shared, `name\n${what}`)}`;
    return { name, key: Buffer.from(keyedDigest(shared, `key\n${what}`), 'base64url') };
  }

  async function find(request: OperationRequest): Promise<CachedResult | undefined> {
    const place = placeOf(request);
    const sealed = await store.get(place.name);
    if (sealed === undefined) return undefined;
    const found = read(unseal(place.key, place.name, sealed), now());
    if (!found) rejected.value++;
    return found;
  }

  return {
    async get(request) {
      const { operation } = request;
      if (operation.definition.operation !== 'query' || unsharedOf(request).has(operation)) return undefined;
      try {
        const found = await find(request);
        return request.personal === true && !found?.declaredPublic ? undefined : found;
      } catch {
        return undefined;
      }
    },
    set(request, { sharedForSeconds = 0, cacheControl, declaredPublic, errors }, body) {
      if (sharedForSeconds <= 0) return void (errors ?? unsharedOf(request).add(request.operation));
      unsharedOf(request).delete(request.operation);
      if (body.length > MAX_RESULT_CHARACTERS) return;
      const at = now();
      const ttlMs = sharedForSeconds * 1000;
      const place = placeOf(request);
      const text = JSON.stringify({ body, cacheControl, declaredPublic, at, until: at + ttlMs });
      store.set(place.name, seal(place.key, place.name, text), ttlMs).catch(() => undefined);
    },
  };
}

/** Returns `undefined` for entries that are forged or too old. */
function read(text: string | undefined, now: number): CachedResult | undefined {
  if (text === undefined) return undefined;
  const { body, cacheControl, declaredPublic, at, until } = JSON.parse(text) as Kept;
  if (until + MAX_CLOCK_SKEW_MS < now) return undefined;
  return { body, cacheControl, age: ageOf(at, now), declaredPublic: declaredPublic === true };
}

interface Kept {
  readonly body: string;
  readonly cacheControl: string | undefined;
  readonly declaredPublic?: boolean;
  readonly at: number;
  readonly until: number;
}

const MAX_CLOCK_SKEW_MS = 5000;
