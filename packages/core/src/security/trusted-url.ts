const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Names of one label or within a cluster, and addresses of RFC 1918 and RFC 4193. */
const PRIVATE =
  /^(?:[^.:[\]]+|.+\.svc|.+\.cluster\.local|10(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}|\[f[cd][\da-f]{2}:.*\])$/;

/** Options of {@link isTrustedUrl}. */
export interface UrlTrust {
  /** True if the resource allows plain HTTP to other machines, `private` for those with private names and addresses. Default: false. */
  readonly allowHttp?: boolean | 'private' | undefined;
}

/**
 * Returns true if tokens, keys and secrets may be sent to an address: HTTPS, or HTTP to this machine, without user and
 * password. With `allowHttp`, HTTP to other machines too.
 */
export function isTrustedUrl(text: string, { allowHttp = false }: UrlTrust = {}): boolean {
  const url = URL.parse(text);
  if (!url || url.username || url.password) return false;
  if (url.protocol !== 'http:') return url.protocol === 'https:';
  return allowHttp === true || LOOPBACK.test(url.hostname) || (allowHttp === 'private' && PRIVATE.test(url.hostname));
}

/** Returns true for an HTTP address of another machine with a private name or address. */
export function isPrivateHttpUrl(text: string): boolean {
  return !isTrustedUrl(text) && isTrustedUrl(text, { allowHttp: 'private' });
}

/** Returns true for an address on this machine. */
export function isLoopbackUrl(text: string): boolean {
  return LOOPBACK.test(URL.parse(text)?.hostname ?? '');
}
