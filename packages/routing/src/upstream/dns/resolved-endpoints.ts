import { isIP } from 'node:net';
import { parseDuration, type Endpoint, type Logger, type SnapshotUpstream } from '@edge-gateway/core';
import { isPipe } from '../../http1/authority.ts';
import type { ClusterStats } from '../stats.ts';
import type { Addresses } from './lookup.ts';
import type { WatchedNames, WatchRules } from './watched-names.ts';

/** Default of `dnsRefreshRate`, in milliseconds. */
const REFRESH_MS = 5000;

export interface ResolvedEndpoints {
  readonly upstream: SnapshotUpstream;
  readonly names: WatchedNames;
  readonly stats: ClusterStats;
  readonly log: Logger;
  /** Called when addresses of endpoints changed. */
  onEndpoints(endpoints: readonly Endpoint[]): void;
}

/**
 * Replaces the endpoints with DNS names by endpoints with their addresses, and follows changes until the returned function is called.
 * Until a name is resolved for the first time, its endpoint keeps the name, and connections to it look it up.
 */
export function resolveEndpoints({ upstream, names, stats, log, onEndpoints }: ResolvedEndpoints): () => void {
  const { endpoints } = upstream;
  const resolved = new Map<Endpoint, Addresses>();
  let watching = false;
  const update = (): void => {
    if (watching) onEndpoints(endpoints.flatMap((endpoint) => endpointsOf(endpoint, resolved.get(endpoint))));
  };
  const stops = endpoints.filter(hasName).map((endpoint) => {
    let failing = false;
    return names.watch(endpoint.address, rulesOf(upstream, endpoint), {
      onAddresses(addresses) {
        if (addresses) {
          if (failing) log.info({ upstream: upstream.name, host: endpoint.address }, 'name resolved again');
          failing = false;
          stats.updateSuccess.value++;
          if (isSame(resolved.get(endpoint), addresses)) return;
          resolved.set(endpoint, addresses);
        } else resolved.delete(endpoint);
        update();
      },
      onFailure(error) {
        stats.updateFailure.value++;
        if (failing) return;
        failing = true;
        const fields = { upstream: upstream.name, host: endpoint.address, reason: error.message };
        const isKnown = resolved.has(endpoint);
        log.warn(fields, isKnown ? 'name cannot be resolved, last addresses stay in use' : 'name cannot be resolved');
      },
    });
  });
  watching = true;
  update();
  return () => {
    for (const stop of stops) stop();
  };
}

/** Returns true for an endpoint whose address is still to be resolved. */
export function hasName({ address }: Endpoint): boolean {
  return isIP(address) === 0 && !isPipe(address);
}

function rulesOf({ spec, dns = {} }: SnapshotUpstream, { priority = 0 }: Endpoint): WatchRules {
  const written = priority > 0 ? dns.failoverRate : spec.dnsRefreshRate;
  const rateMs = written === undefined ? 0 : parseDuration(written);
  return {
    family: dns.ipV4Only ? 'v4' : 'all',
    rateMs: rateMs >= 1 ? rateMs : priority > 0 ? FAILOVER_REFRESH_MS : REFRESH_MS,
    respectTtl: spec.respectDnsTtl === true,
  };
}

/** Default of `failoverUpstreamDnsPollingInterval`, in milliseconds. */
const FAILOVER_REFRESH_MS = 10_000;

/** One endpoint for each IPv4 address, with an IPv6 address to fall back to; without IPv4 addresses one for each IPv6 address. */
function endpointsOf(endpoint: Endpoint, addresses: Addresses | undefined): readonly Endpoint[] {
  if (!addresses) return [endpoint];
  const { v4, v6 } = addresses;
  const hostname = endpoint.hostname ?? endpoint.address;
  if (v4.length === 0) return v6.map((address) => ({ ...endpoint, address, hostname }));
  return v4.map((address, i) => ({
    ...endpoint,
    address,
    hostname,
    ...(v6.length > 0 && { alternatives: [v6[i % v6.length]!] }),
  }));
}

function isSame(one: Addresses | undefined, other: Addresses): boolean {
  return one !== undefined && sorted(one) === sorted(other);
}

/** Servers rotate the order of addresses. */
function sorted({ v4, v6 }: Addresses): string {
  return [...v4].sort().join() + ' ' + [...v6].sort().join();
}
