import type { AuthRequest } from '@edge-gateway/core';
import type { LoginSettings } from './settings.ts';

const MAX_LENGTH = 2000;
const HOST = /^[a-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/i;

/**
 * Returns the URL after the login: that of the request if it belongs to this application (the origin of `appUrl`, or a host in
 * the domain of the cookies), otherwise `appUrl`.
 */
export function targetOf(
  request: Pick<AuthRequest, 'host' | 'path' | 'scheme'>,
  { appUrl, cookie }: LoginSettings,
): string {
  const { host, path } = request;
  // oxlint-disable-next-line no-control-regex
  if (!path.startsWith('/') || path.length > MAX_LENGTH || /[\u0000-\u0020\u007f\\]/.test(path)) return appUrl.href;
  const origin = originOf(request, host.toLowerCase(), { appUrl, domain: cookie.domain });
  if (origin === undefined) return appUrl.href;
  const target = URL.parse(origin + path);
  return target?.origin === origin ? target.href : appUrl.href;
}

function originOf(
  { scheme }: Pick<AuthRequest, 'scheme'>,
  host: string,
  own: { readonly appUrl: URL; readonly domain: string | undefined },
): string | undefined {
  if (!HOST.test(host)) return undefined;
  const asked = URL.parse(`${own.appUrl.protocol}//${host}`);
  if (asked?.origin === own.appUrl.origin) return own.appUrl.origin;
  const allowed = asked && own.domain !== undefined && isWithin(asked.hostname, own.domain);
  return allowed ? URL.parse(`${own.appUrl.protocol === 'https:' ? 'https' : scheme}://${host}`)?.origin : undefined;
}

/** Returns true for a domain and its subdomains. */
export function isWithin(hostname: string, domain: string): boolean {
  const wanted = domain.toLowerCase().replace(/^\./, '');
  return hostname === wanted || hostname.endsWith(`.${wanted}`);
}
