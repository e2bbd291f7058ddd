import type { AuthRequest } from '@edge-gateway/core';

/** A longer token is rejected unread. */
export const MAX_TOKEN_LENGTH = 16_384;
/** RFC 6750 §2.1. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * Returns the one token of a request: from `Authorization: Bearer` or from the query, but not from both (RFC 6750 §2).
 * `undefined` for none, several, or no token.
 */
export function bearerToken(request: AuthRequest): string | undefined {
  const header = request.header('authorization');
  const inQuery = tokensInQuery(request.path);
  if (inQuery.length > (header === undefined ? 1 : 0)) return undefined;
  const given = header === undefined ? inQuery[0] : header.match(/^bearer +(\S+)$/i)?.[1];
  if (given === undefined || given.length > MAX_TOKEN_LENGTH || !TOKEN.test(given)) return undefined;
  return given;
}

function tokensInQuery(path: string): readonly string[] {
  const cut = path.indexOf('?');
  return cut < 0 ? [] : new URLSearchParams(path.slice(cut + 1)).getAll('access_token');
}
