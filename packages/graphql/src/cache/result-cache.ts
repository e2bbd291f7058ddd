import { LRUCache } from 'lru-cache';
import type { ApiResult, OperationRequest } from '../execute/executable-api.ts';

export const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024;
export const MAX_RESULT_CHARACTERS = MAX_CACHED_CHARACTERS / 16;
const MAX_RESULTS = 10_000;

/** A result as it is sent. */
export interface CachedResult {
  readonly body: string;
  readonly cacheControl: string | undefined;
  /** Age in whole seconds. */
  readonly age: number;
  /** True if it may be returned to identified clients, too. */
  readonly declaredPublic: boolean;
}

/** Caches results that do not depend on the client. */
export interface ResultCache {
  get(request: OperationRequest): CachedResult | undefined | Promise<CachedResult | undefined>;
  set(request: OperationRequest, result: ApiResult, body: string): void;
}

interface Kept extends Omit<CachedResult, 'age'> {
  readonly at: number;
  readonly until: number;
}

export function ageOf(at: number, now: number): number {
  return Math.max(0, Math.floor((now - at) / 1000));
}

/** Creates an empty cache in memory. `now` returns milliseconds. */
export function createResultCache(now: () => number): ResultCache {
  const results = new LRUCache<string, Kept>({
    max: MAX_RESULTS,
    maxSize: MAX_CACHED_CHARACTERS,
    maxEntrySize: MAX_RESULT_CHARACTERS,
    sizeCalculation: ({ body }, key) => body.length + key.length + 1,
  });
  return {
    get(request) {
      if (results.size === 0 || request.operation.definition.operation !== 'query') return undefined;
      const key = keyOf(request);
      const found = results.get(key);
      if (found && request.personal === true && !found.declaredPublic) return undefined;
      if (found && found.until > now()) return { ...found, age: ageOf(found.at, now()) };
      if (found) results.delete(key);
      return undefined;
    },
    set(request, { sharedForSeconds = 0, cacheControl, declaredPublic = false }, body) {
      if (sharedForSeconds <= 0) return;
      const at = now();
      results.set(keyOf(request), { body, cacheControl, declaredPublic, at, until: at + sharedForSeconds * 1000 });
    },
  };
}

/** Returns everything that a result depends on within one API. */
export function keyOf({ operation, variables }: OperationRequest): string {
  const written = JSON.stringify(variables);
  const beyond = written.includes('null') ? numbersBeyond(variables) : '';
  return `${operation.name ?? ''}\n${written}${beyond}\n${operation.text}`;
}

/** JSON has null for infinite numbers, e.g. from `1e999`: this distinguishes them from null, place by place. */
function numbersBeyond(variables: OperationRequest['variables']): string {
  let places = '';
  JSON.stringify(variables, (_key, value: unknown) => {
    if (value === null) places += '0';
    else if (typeof value === 'number' && !Number.isFinite(value)) places += value > 0 ? '+' : '-';
    return value;
  });
  return /[+-]/.test(places) ? places : '';
}
