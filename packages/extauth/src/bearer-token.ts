import type { AuthRequest } from '@edge-gateway/core';

/** A longer token is refused unread. */
export const MAX_TOKEN_LENGTH = 16_384;
/** RFC 6750 §2.1. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** The one token of a request: from `Authorization: Bearer`, else from the query. `undefined` for none, several, or no token. */
export function bearerToken(request: AuthRequest): string | undefined {
  const header = request.header('authorization');
  const given = header === undefined ? fromQuery(request.path) : header.match(/^bearer +(\S+)$/i)?.[1];
  if (given === undefined || given.length > MAX_TOKEN_LENGTH || !TOKEN.test(given)) return undefined;
  return given;
}

function fromQuery(path: string): string | undefined {
  const cut = path.indexOf('?');
  const all = cut < 0 ? [] : new URLSearchParams(path.slice(cut + 1)).getAll('access_token');
  return all.length === 1 ? all[0] : undefined;
}
