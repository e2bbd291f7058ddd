import { toByteString, type Facts } from '@edge-gateway/core';
import type { JwtProvider } from '@edge-gateway/core/schema';

/** The possible locations of a provider's tokens. */
export interface TokenSource {
  readonly headers: readonly { readonly header: string; readonly prefix: string }[];
  readonly queryParams: readonly string[];
}

const DEFAULT_SOURCE: TokenSource = {
  headers: [{ header: 'authorization', prefix: 'Bearer ' }],
  queryParams: ['access_token'],
};

/** Returns the source that a provider names, or the default: `Authorization: Bearer` and the query's `access_token`. */
export function tokenSourceOf(provider: JwtProvider): TokenSource {
  const { headers = [], queryParams = [] } = provider.tokenSource ?? {};
  if (headers.length === 0 && queryParams.length === 0) return DEFAULT_SOURCE;
  return {
    headers: headers.map(({ header = '', prefix = '' }) => ({
      header: header.toLowerCase(),
      prefix: toByteString(prefix),
    })),
    queryParams,
  };
}

type RequestFacts = Pick<Facts, 'headers' | 'path' | 'requestChanges'>;

/** Tokens of a request, and the headers they were in. */
export interface FoundTokens {
  readonly tokens: readonly string[];
  readonly headers: readonly string[];
}

/**
 * Returns every token of a request in the places of a source, with the changes of earlier concerns applied. All of them must be
 * valid. `rawHeaders` are used if the facts have no headers.
 */
export function findTokens(source: TokenSource, facts: RequestFacts, rawHeaders: readonly string[]): FoundTokens {
  const tokens: string[] = [];
  const headers: string[] = [];
  for (const { header, prefix } of source.headers) {
    for (const value of valuesOf(header, facts, rawHeaders)) {
      const token = tokenIn(value, prefix);
      if (token === undefined) continue;
      tokens.push(token);
      headers.push(header);
    }
  }
  const query = facts.path.indexOf('?');
  if (query === -1 || source.queryParams.length === 0) return { tokens, headers };
  const params = new URLSearchParams(facts.path.slice(query + 1));
  for (const name of source.queryParams) tokens.push(...params.getAll(name).filter((token) => token !== ''));
  return { tokens, headers };
}

/** Characters of a scheme (RFC 9110 §5.6.2): with one of them after a prefix, the scheme is another one. */
const SCHEME_CHARACTER = /[\w!#$%&'*+.^`|~-]/;

/**
 * Returns the token of a header value; `undefined` if there is none. Prefixes are compared without regard to case (RFC 9110 §11.1): another
 * spelling must not hide a token. Neither must a separator other than spaces: with it, the token is malformed.
 */
function tokenIn(value: string, prefix: string): string | undefined {
  const scheme = prefix.trimEnd();
  if (value.slice(0, scheme.length).toLowerCase() !== scheme.toLowerCase()) return undefined;
  const rest = value.slice(scheme.length).trimEnd();
  if (scheme !== prefix && SCHEME_CHARACTER.test(rest.charAt(0))) return undefined;
  return rest.replace(/^ +/, '') || undefined;
}

/** Records the removal of tokens: of the headers that they were found in, and of all query parameters of the source. */
export function removeTokens({ headers }: FoundTokens, { queryParams }: TokenSource, facts: Facts): void {
  for (const name of headers) facts.requestChanges.push({ op: 'remove', name });
  facts.path = withoutTokens(facts.path, queryParams);
}

/** Returns the values of a header one by one, with the recorded changes. */
function valuesOf(header: string, facts: RequestFacts, rawHeaders: readonly string[]): readonly string[] {
  const flat = facts.headers ?? rawHeaders;
  let values: string[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    if (name.length === header.length && name.toLowerCase() === header) values.push(flat[i + 1]!);
  }
  for (const change of facts.requestChanges) {
    if (change.name !== header) continue;
    if (change.op === 'append') values.push(change.value);
    else values = change.op === 'set' ? [change.value] : [];
  }
  return values;
}

/** Returns a path without the query parameters that contain tokens; the others stay as they were written. */
export function withoutTokens(path: string, queryParams: readonly string[]): string {
  const query = path.indexOf('?');
  if (query === -1) return path;
  const names = new Set(queryParams);
  const parts = path.slice(query + 1).split('&');
  const kept = parts.filter((part) => !names.has(decodeName(part)));
  if (kept.length === parts.length) return path;
  return kept.length === 0 ? path.slice(0, query) : `${path.slice(0, query)}?${kept.join('&')}`;
}

function decodeName(part: string): string {
  return new URLSearchParams(part).keys().next().value ?? '';
}
