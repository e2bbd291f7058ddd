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

/** `address:port`, IPv6 in brackets: the default `Host` of an endpoint, and its name in the log. */
export function hostOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
