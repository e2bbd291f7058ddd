const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/** An absolute-form target (RFC 9112 §3.2.2) taken apart. */
export interface AbsoluteTarget {
  readonly authority: string;
  /** The same target in origin form. */
  readonly path: string;
}

/** Takes an absolute-form target apart; `undefined` when it is none. */
export function parseAbsoluteTarget(target: string): AbsoluteTarget | undefined {
  const match = ABSOLUTE.exec(target);
  if (!match) return undefined;
  const rest = match[2]!;
  return { authority: match[1]!, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** `address:port`, IPv6 in brackets: the `Host` of an endpoint where nothing else is set, and its name in the log. */
export function hostOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}
