import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

/**
 * True for a request that a page of another origin makes. Browsers open WebSockets for every page and send cookies along, without
 * asking first as they do for `POST` with JSON. Requests without `Origin` come from no page. `allowed` holds origins; `*` is any.
 */
export function isForeign({ headers, socket }: IncomingMessage, allowed: readonly string[]): boolean {
  const { origin, host = '' } = headers;
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return false;
  const page = URL.parse(origin);
  if (!page || !/^https?:$/.test(page.protocol)) return true;
  // Where TLS ends in front of this server, only the page knows of it.
  if ((socket as TLSSocket).encrypted && page.protocol !== 'https:') return true;
  return URL.parse(`${page.protocol}//${host}`)?.host !== page.host;
}
