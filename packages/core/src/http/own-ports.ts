const claims = new Map<number, number>();
let ports: ReadonlySet<number> = new Set();

/** Returns the claimed ports of this process. Another set is returned after a change. */
export function ownPorts(): ReadonlySet<number> {
  return ports;
}

/**
 * Claims a port of this process: hosts that clients choose (`dynamicForwardProxy`) must not reach it. Returns the release. Listeners
 * of the gateway and admin ports are claimed; claim the port of a server of your own that clients must not reach through the gateway.
 *
 * @example
 * const release = claimOwnPort(9229);
 */
export function claimOwnPort(port: number): () => void {
  count(port, 1);
  let released = false;
  return () => {
    if (!released) count(port, -1);
    released = true;
  };
}

function count(port: number, change: 1 | -1): void {
  const next = (claims.get(port) ?? 0) + change;
  if (next > 0) claims.set(port, next);
  else claims.delete(port);
  if (next === 0 || (next === 1 && change === 1)) ports = new Set(claims.keys());
}
