/** Letters, digits, `-`, `.`, `_`, or an IPv6 address in brackets, with a port or none (RFC 9110 §7.2, RFC 3986 §3.2). */
const AUTHORITY = /^(?:[a-z0-9._-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/i;

/** True for a host name or address with an optional port, and for nothing else: no user, path, space or list. */
export function isAuthority(value: string): boolean {
  const match = AUTHORITY.exec(value);
  return match !== null && (match[1] === undefined || Number(match[1]) <= 65_535);
}

/** Scheme, authority and the rest of an absolute URI. */
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
