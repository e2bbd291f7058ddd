import { hash } from 'node:crypto';
import type { GraphQLApiSpec } from '@edge-gateway/core/schema';
import { LRUCache } from 'lru-cache';
import type { GraphQLRequest } from './graphql-request.ts';
import { refusal, type Refusal } from '../errors/refusal.ts';

const DEFAULT_CACHE_SIZE = 1000;
/** Maximum number of characters of all persisted queries. */
const MAX_CHARACTERS = 4 * 1024 * 1024;
const SHA256 = /^[0-9a-f]{64}$/;

/** Returns the query of a request: its own, or the persisted one. `keep` stores it by its hash; call it after the query was validated. */
type FindQuery = (request: GraphQLRequest) => { readonly text: string; readonly keep: () => void } | Refusal;

const NOTHING = (): void => {};

/** Implements the protocol of `extensions.persistedQuery`, version 1, and the list of allowed queries. */
export function createPersisted({
  persistedQueryCacheConfig,
  allowedQueryHashes = [],
}: Pick<GraphQLApiSpec, 'allowedQueryHashes' | 'persistedQueryCacheConfig'>): FindQuery {
  const max = persistedQueryCacheConfig?.cacheSize ?? DEFAULT_CACHE_SIZE;
  const texts =
    max > 0
      ? new LRUCache<string, string>({ max, maxSize: MAX_CHARACTERS, sizeCalculation: (text) => text.length + 64 })
      : undefined;
  const allowed =
    allowedQueryHashes.length > 0 ? new Set(allowedQueryHashes.map((each) => each.toLowerCase())) : undefined;
  return ({ query, extensions }) => {
    const given = hashOf(extensions);
    if (typeof given === 'object') return given;
    if (query === undefined) {
      if (given === undefined) return refusal('ERR_GRAPHQL_BODY', 'The request has no query.');
      if (allowed && !allowed.has(given)) return refusal('ERR_GRAPHQL_QUERY_NOT_ALLOWED');
      const text = texts?.get(given);
      return text === undefined ? notFound() : { text, keep: NOTHING };
    }
    if (given === undefined && !allowed) return { text: query, keep: NOTHING };
    const own = hash('sha256', query, 'hex');
    if (given !== undefined && given !== own) return refusal('ERR_GRAPHQL_PERSISTED_QUERY');
    if (allowed && !allowed.has(own)) return refusal('ERR_GRAPHQL_QUERY_NOT_ALLOWED');
    return { text: query, keep: given === undefined ? NOTHING : () => void texts?.set(given, query) };
  };
}

/** Clients of the protocol expect this message and this code. */
function notFound(): Refusal {
  const { code, errors } = refusal('ERR_GRAPHQL_PERSISTED_QUERY_NOT_FOUND');
  return { code, errors: errors.map((error) => ({ ...error, extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } })) };
}

function hashOf(extensions: GraphQLRequest['extensions']): string | Refusal | undefined {
  const written = extensions['persistedQuery'];
  if (written === undefined || written === null) return undefined;
  const { version, sha256Hash } = typeof written === 'object' ? (written as Record<string, unknown>) : {};
  const known = version === 1 && typeof sha256Hash === 'string' && SHA256.test(sha256Hash.toLowerCase());
  return known ? sha256Hash.toLowerCase() : refusal('ERR_GRAPHQL_PERSISTED_QUERY');
}
