import type { IncomingMessage } from 'node:http';
import type { JwtProvider } from '@edge-gateway/core/schema';

/** Where a provider's tokens may be. */
export interface TokenSource {
  readonly headers: readonly { readonly header: string; readonly prefix: string }[];
  readonly queryParams: readonly string[];
}

const DEFAULT_SOURCE: TokenSource = {
  headers: [{ header: 'authorization', prefix: 'Bearer ' }],
  queryParams: ['access_token'],
};

/** The source that a provider names, or the default: `Authorization: Bearer` and the query's `access_token`. */
export function tokenSourceOf(provider: JwtProvider): TokenSource {
  const { headers = [], queryParams = [] } = provider.tokenSource ?? {};
  if (headers.length === 0 && queryParams.length === 0) return DEFAULT_SOURCE;
  return {
    headers: headers.map(({ header = '', prefix = '' }) => ({ header: header.toLowerCase(), prefix })),
    queryParams,
  };
}

/** Every token that a request carries in the places of a source. All of them have to be good. */
export function findTokens(source: TokenSource, req: IncomingMessage, path: string): string[] {
  const tokens: string[] = [];
  for (const { header, prefix } of source.headers) {
    if (req.headers[header] === undefined) continue;
    for (let i = 0; i < req.rawHeaders.length; i += 2) {
      const value = req.rawHeaders[i + 1]!;
      if (req.rawHeaders[i]!.toLowerCase() !== header || !value.startsWith(prefix)) continue;
      const token = value.slice(prefix.length).trim();
      if (token !== '') tokens.push(token);
    }
  }
  const query = path.indexOf('?');
  if (query === -1 || source.queryParams.length === 0) return tokens;
  const params = new URLSearchParams(path.slice(query + 1));
  for (const name of source.queryParams) tokens.push(...params.getAll(name).filter((token) => token !== ''));
  return tokens;
}

/** A path without the query parameters that carried tokens; the others stay as they were written. */
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
