/** A name, an IPv4 address, or an IPv6 address in brackets; then a port or none. */
const HOST = /^(?:[a-z0-9._-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Returns why a text is not a valid host; `undefined` if it is. */
export function hostProblem(host: string): string | undefined {
  return HOST.test(host) ? undefined : `invalid host '${host}': use a name or an IP address, optionally with a port`;
}
