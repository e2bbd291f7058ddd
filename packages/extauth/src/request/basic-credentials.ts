import type { AuthRequest } from '@edge-gateway/core';

/** A longer pair of user name and password, in characters, is rejected unchecked. */
const MAX_LENGTH = 1024;

/** User name and password of a request. */
export interface BasicCredentials {
  readonly name: string;
  readonly password: string;
}

/**
 * Returns the user name and the password in `Authorization: Basic` (RFC 7617), and if it is missing and `withProxy` is true in
 * `Proxy-Authorization`. `undefined` if there are none, or if they are malformed or too long.
 */
export function basicCredentials(
  request: AuthRequest,
  { withProxy = false }: { readonly withProxy?: boolean } = {},
): BasicCredentials | undefined {
  const header = request.header('authorization') ?? (withProxy ? request.header('proxy-authorization') : undefined);
  const encoded = header?.match(/^basic +([A-Za-z0-9+/]+={0,2})$/i)?.[1];
  if (!encoded) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1 || text.length > MAX_LENGTH) return undefined;
  return { name: text.slice(0, colon), password: text.slice(colon + 1) };
}
