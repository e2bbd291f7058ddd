const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/** The parts of an absolute-form target (RFC 9112 §3.2.2). */
export interface AbsoluteTarget {
  readonly authority: string;
  /** The same target in origin form. */
  readonly path: string;
}

/** Parses an absolute-form target; returns `undefined` for any other form. */
export function parseAbsoluteTarget(target: string): AbsoluteTarget | undefined {
  const match = ABSOLUTE.exec(target);
  if (!match) return undefined;
  const rest = match[2]!;
  return { authority: match[1]!, path: rest.startsWith('/') ? rest : `/${rest}` };
}

interface Address {
  readonly address: string;
  readonly port: number;
}

/** `address:port`, IPv6 in brackets: the name of an endpoint in the log. The path of a Unix socket is its name. */
export function hostOf({ address, port }: Address): string {
  if (isPipe(address)) return address;
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The default `Host` of an endpoint: its DNS name, if it has one. */
export function authorityOf({ address, port, hostname }: Address & { readonly hostname?: string }): string {
  return isPipe(address) ? 'localhost' : hostOf({ address: hostname ?? address, port });
}

/** Returns true for the path of a Unix socket, or the name of an abstract one, `@name`. */
export function isPipe(address: string): boolean {
  return address.startsWith('/') || address.startsWith('@');
}
