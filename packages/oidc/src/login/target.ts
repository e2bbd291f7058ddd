import type { AuthRequest } from '@edge-gateway/core';
import type { LoginSettings } from './settings.ts';

const MAX_LENGTH = 2000;
const HOST = /^[a-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:.]+\](:\d{1,5})?$/i;

/**
 * Returns the URL after the login: that of the request if it belongs to this application (the origin of `appUrl`, or a host in
 * the domain of the cookies), otherwise `appUrl`.
 */
export function targetOf(
  { host, path, scheme }: Pick<AuthRequest, 'host' | 'path' | 'scheme'>,
  { appUrl, cookie: { domain } }: LoginSettings,
): string {
  // oxlint-disable-next-line no-control-regex
  const isPath = path.startsWith('/') && path.length <= MAX_LENGTH && !/[\u0000-\u0020\u007f\\]/.test(path);
  const url = isPath && HOST.test(host) ? URL.parse(`${appUrl.protocol}//${host}`) : null;
  let origin = url?.origin;
  if (url && origin !== appUrl.origin) {
    if (domain === undefined || !isWithin(url.hostname, domain)) return appUrl.href;
    if (appUrl.protocol !== 'https:') origin = URL.parse(`${scheme}://${host}`)?.origin;
  }
  const target = origin === undefined ? null : URL.parse(origin + path);
  return target && target.origin === origin ? target.href : appUrl.href;
}

/** Returns true for a domain and its subdomains. */
export function isWithin(hostname: string, domain: string): boolean {
  const wanted = domain.toLowerCase().replace(/^\./, '');
  return hostname === wanted || hostname.endsWith(`.${wanted}`);
}
