/** Letters, digits, `-`, `.`, `_`, or an IPv6 address in brackets, with a port or none (RFC 9110 §7.2, RFC 3986 §3.2). */
const HOST = /^(?:[a-z0-9._-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/i;

/** Returns true for a host name or address with an optional port, and for nothing else: no user, path, space or list. */
export function isHost(value: string): boolean {
  const match = HOST.exec(value);
  return match !== null && (match[1] === undefined || Number(match[1]) <= 65_535);
}
