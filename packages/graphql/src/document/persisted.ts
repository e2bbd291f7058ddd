import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { GraphQLRequest } from '../http/graphql-request.ts';
import { refusal, type Refusal } from '../api/refusal.ts';

/** Default maximum number of persisted queries, and of characters of all of them. */
export const DEFAULT_PERSISTED_QUERIES = 1000;
const MAX_CHARACTERS = 4 * 1024 * 1024;
const SHA256 = /^[0-9a-f]{64}$/;

/** The query of a request. */
export interface QueryText {
  readonly text: string;
  /** Stores the query by the hash of the client. Call it after the query was validated. */
  readonly keep: () => void;
}

/** Returns the query of a request: its own, or the persisted one. */
export type FindQuery = (request: GraphQLRequest) => QueryText | Refusal;

export interface PersistedOptions {
  /** Maximum number of persisted queries. Default 1000; 0 disables them. */
  readonly cacheSize?: number;
  /** SHA-256 of the allowed queries, in hex. Empty: all. */
  readonly allowedHashes?: readonly string[];
}

const NOTHING = (): void => {};

/** Implements the protocol of `extensions.persistedQuery`, version 1, and the list of allowed queries. */
export function createPersisted({ cacheSize, allowedHashes = [] }: PersistedOptions): FindQuery {
  const max = cacheSize ?? DEFAULT_PERSISTED_QUERIES;
  const texts =
    max > 0
      ? new LRUCache<string, string>({ max, maxSize: MAX_CHARACTERS, sizeCalculation: (text) => text.length + 64 })
      : undefined;
  const allowed = allowedHashes.length > 0 ? new Set(allowedHashes.map((each) => each.toLowerCase())) : undefined;
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
