import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/**
 * Returns true for a request by a page of another origin. Browsers open WebSockets for every page and send cookies, without
 * a preflight as for `POST` with JSON. Requests without `Origin` are not made by pages. `allowed` holds origins; `*` is any.
 */
export function isForeign({ headers, socket }: IncomingMessage, allowed: readonly string[]): boolean {
  const { origin, host = '' } = headers;
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return false;
  const page = URL.parse(origin);
  if (!page || !/^https?:$/.test(page.protocol)) return true;
  // If TLS is terminated in front of this server, only the origin shows it.
  if ((socket as TLSSocket).encrypted && page.protocol !== 'https:') return true;
  return URL.parse(`${page.protocol}//${host}`)?.host !== page.host;
}
