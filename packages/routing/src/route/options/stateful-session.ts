import { headerIn, parseCookies, parseDuration, type Listener } from '@edge-gateway/core';
import { setStickyCookie } from './sticky-cookie.ts';

/** Binds a client to the host that served its first request. */
export interface StatefulSession {
  /** True: 503 if the host is gone. */
  readonly strict: boolean;
  /** Returns the `address:port` of the host that a request belongs to, if it names one. */
  hostOf(headers: readonly string[], path: string): string | undefined;
  /** Returns the response header that names a host; `undefined` if the path of the request has no session. */
  headerFor(host: string, path: string): readonly [name: string, value: string] | undefined;
}

/** Compiles `statefulSession` of a listener. Hosts are written in Base64, as in Envoy. */
export function compileStatefulSession({ statefulSession }: Listener['httpOptions']): StatefulSession | undefined {
  const { cookieBased, headerBased, strict = false } = statefulSession ?? {};
  const cookie = cookieBased?.cookie;
  if (cookie?.name) return inCookie({ ...cookie, name: cookie.name }, strict);
  return headerBased?.headerName ? inHeader(headerBased.headerName.toLowerCase(), strict) : undefined;
}

function inHeader(name: string, strict: boolean): StatefulSession {
  return {
    strict,
    hostOf: (headers) => decoded(headerIn(headers, name)),
    headerFor: (host) => [name, encoded(host)],
  };
}

function inCookie(written: { readonly name: string; readonly path?: string; readonly ttl?: string }, strict: boolean) {
  const { name, path = '', ttl = '0s' } = written;
  const cookie = { name, path, maxAgeSeconds: Math.floor(parseDuration(ttl) / 1000) };
  const session: StatefulSession = {
    strict,
    hostOf: (headers, requested) =>
      isWithin(requested, path) ? decoded(parseCookies(headerIn(headers, 'cookie')).get(name)?.[0]) : undefined,
    headerFor: (host, requested) =>
      isWithin(requested, path) ? ['set-cookie', setStickyCookie(cookie, encoded(host))] : undefined,
  };
  return session;
}

/** Whether a browser sends a cookie of `path` with a request (RFC 6265 5.1.4). */
function isWithin(requested: string, path: string): boolean {
  const pathname = requested.split('?', 1)[0]!;
  if (path === '' || pathname === path) return true;
  return pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}

function encoded(host: string): string {
  return Buffer.from(host).toString('base64');
}

function decoded(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : Buffer.from(value, 'base64').toString();
}
