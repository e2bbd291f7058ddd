/** A name, an IPv4 address, or an IPv6 address in brackets; then a port or none. */
const HOST = /^(?:[a-z0-9._-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Why a text cannot be a host that requests are sent or redirected to; `undefined` when it can. */
export function hostProblem(host: string): string | undefined {
  return HOST.test(host) ? undefined : `invalid host '${host}': use a name or an IP address, optionally with a port`;
}
