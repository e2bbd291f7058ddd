import { isIPv6 } from 'node:net';
import type { Endpoint, SnapshotUpstream } from '../contract/snapshot.ts';

/**
 * Returns the `Host` of the health checks of an endpoint that names none, if the check names none either: the address as it was declared. `undefined` for an
 * endpoint that was discovered or is a Unix socket: then it is the name of the cluster.
 */
export function declaredCheckHost({ spec }: Pick<SnapshotUpstream, 'spec'>, endpoint: Endpoint): string | undefined {
  const isDeclared = spec.static !== undefined || (endpoint.priority ?? 0) > 0;
  const declared = endpoint.hostname ?? endpoint.address;
  if (!isDeclared || /^[/@]/.test(declared)) return undefined;
  return isIPv6(declared) ? `[${declared}]` : declared;
}
