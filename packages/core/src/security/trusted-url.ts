const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Options of {@link isTrustedUrl}. */
export interface UrlTrust {
  /** True if the resource allows plain HTTP to other machines. Default: false. */
  readonly allowHttp?: boolean | undefined;
}

/**
 * Returns true if tokens, keys and secrets may be sent to an address: HTTPS, or HTTP to this machine, without user and
 * password. With `allowHttp`, HTTP to other machines too.
 */
export function isTrustedUrl(text: string, { allowHttp = false }: UrlTrust = {}): boolean {
  const url = URL.parse(text);
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && (allowHttp || LOOPBACK.test(url.hostname)));
}

/** Returns true for an address on this machine. */
export function isLoopbackUrl(text: string): boolean {
  return LOOPBACK.test(URL.parse(text)?.hostname ?? '');
}
