/** The host that a request names. */
export interface NamedHost {
  /** Name or address, without brackets. */
  readonly name: string;
  readonly port: number;
}

/** Returns the host that an authority names; `undefined` for an invalid one. The default port is that of HTTP or HTTPS. */
export function parseNamedHost(authority: string, tls: boolean): NamedHost | undefined {
  const { hostname, port } = URL.parse(`http://${authority}`) ?? {};
  if (!hostname) return undefined;
  return { name: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (tls ? 443 : 80)) };
}
