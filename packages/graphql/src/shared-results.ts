import { createHash } from 'node:crypto';
import type { Operation, OperationRequest } from './api.ts';
import { ageOf, keyOf, MAX_RESULT_CHARACTERS, type CachedResult, type ResultCache } from './result-cache.ts';

/**
 * Where results are kept beyond one process. What it rejects with, or gives that no API put there, counts as nothing
 * found: a request is never refused for it.
 */
export interface ResultStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
}

/**
 * A cache in a store. `scope` is what a result depends on beside the request: another definition of an API never gets
 * the results of this one. `now` gives milliseconds since 1970.
 */
export function createSharedResults(store: ResultStore, scope: string, now: () => number): ResultCache {
  const prefix = `graphql:${digest(scope)}:`;
  /** Operations whose last result was for nobody else, so that the store is not asked for them. */
  const unshared = { personal: new WeakSet<Operation>(), others: new WeakSet<Operation>() };
  const unsharedOf = ({ personal }: OperationRequest) => (personal === true ? unshared.personal : unshared.others);
  const storeKey = (request: OperationRequest): string => prefix + digest(keyOf(request));
  return {
    async get(request) {
      const { operation } = request;
      if (operation.definition.operation !== 'query' || unsharedOf(request).has(operation)) return undefined;
      try {
        const found = read(await store.get(storeKey(request)), now());
        return request.personal === true && !found?.declaredPublic ? undefined : found;
      } catch {
        return undefined;
      }
    },
    set(request, { sharedForSeconds = 0, cacheControl, declaredPublic, errors }, body) {
      if (sharedForSeconds <= 0) return void (errors ?? unsharedOf(request).add(request.operation));
      unsharedOf(request).delete(request.operation);
      if (body.length > MAX_RESULT_CHARACTERS) return;
      store
        .set(
          storeKey(request),
          JSON.stringify({ body, cacheControl, declaredPublic, at: now() }),
          sharedForSeconds * 1000,
        )
        .catch(() => undefined);
    },
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Somebody else may have written to the store. */
function read(text: string | undefined, now: number): CachedResult | undefined {
  if (text === undefined) return undefined;
  const { body, cacheControl, declaredPublic, at } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  if (typeof body !== 'string') return undefined;
  const age = typeof at === 'number' ? ageOf(at, now) : 0;
  return {
    body,
    cacheControl: typeof cacheControl === 'string' ? cacheControl : undefined,
    age,
    declaredPublic: declaredPublic === true,
  };
}
