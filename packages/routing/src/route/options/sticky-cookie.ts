/** A cookie that binds a client to a host. */
export interface StickyCookie {
  readonly name: string;
  /** Seconds; 0 ends it with the browser session. */
  readonly maxAgeSeconds: number;
  /** Empty: browsers use the path of the request. */
  readonly path: string;
}

/** Returns the `Set-Cookie` value, written as Envoy does. */
export function setStickyCookie({ name, maxAgeSeconds, path }: StickyCookie, value: string): string {
  const age = maxAgeSeconds > 0 ? `; Max-Age=${maxAgeSeconds}` : '';
  return `${name}="${value}"${age}${path === '' ? '' : `; Path=${path}`}; HttpOnly`;
}
