import type { Endpoint } from '@edge-gateway/core';
import type { EndpointSlice, Service, ServicePort, SliceEndpoint } from './cluster-objects.ts';

/** Labels of pods by `Pod/<namespace>/<name>`. */
export type PodLabels = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** A server with its addresses by family. */
interface Server {
  readonly v4: string[];
  readonly v6: string[];
  readonly names: string[];
  readonly port: number;
  /** Whether new requests are sent to it. */
  readonly isReady: boolean;
  /** Whether it still answers although it is terminating. */
  readonly isServing: boolean;
  readonly zone: string | undefined;
  readonly target: string | undefined;
}

interface EndpointContext {
  readonly slices: readonly EndpointSlice[];
  readonly podLabels: PodLabels;
}

/**
 * Returns the endpoints of a port that accept new requests, sorted by address. Pure.
 *
 * - Endpoints that are not ready or are terminating are left out, so that requests in progress end there and new ones do not begin. If no
 *   endpoint is ready, those that still serve while they are terminating are used.
 * - An endpoint in several slices counts once, and only as ready if it is in all of them; the IPv4 and IPv6 addresses of one pod are alternatives of one endpoint.
 */
export function portEndpoints(
  service: Service,
  port: ServicePort,
  { slices, podLabels }: EndpointContext,
): readonly Endpoint[] {
  if (service.externalName !== undefined) return externalEndpoint(service.externalName, port.port);
  const servers = serversOf(slices, port);
  const ready = servers.filter(({ isReady }) => isReady);
  const used = ready.length > 0 ? ready : servers.filter(({ isServing }) => isServing);
  const prefersV6 = service.ipFamilies[0] === 'IPv6';
  return used
    .map((server) => endpointOf(server, prefersV6, podLabels))
    .sort((a, b) => (a.address === b.address ? a.port - b.port : a.address < b.address ? -1 : 1));
}

function externalEndpoint(name: string, port: number): readonly Endpoint[] {
  const address = name.replace(/\.$/, '');
  return address ? [{ address, port, weight: 1 }] : [];
}

/** Returns the servers of a port. Slices that change one after the other may contain the same endpoint for a moment. */
function serversOf(slices: readonly EndpointSlice[], port: ServicePort): Server[] {
  const servers = new Map<string, Server>();
  for (const slice of slices) {
    const number = slice.ports.find(({ name, protocol }) => name === port.name && protocol === port.protocol)?.port;
    if (number === undefined) continue;
    for (const endpoint of slice.endpoints) {
      // One endpoint has one address in effect; further ones have no meaning.
      const [address] = endpoint.addresses;
      if (address !== undefined) addServer(servers, endpoint, { address, type: slice.addressType, port: number });
    }
  }
  return [...servers.values()];
}

interface ServerAddress {
  readonly address: string;
  readonly type: string;
  readonly port: number;
}

function addServer(
  servers: Map<string, Server>,
  endpoint: SliceEndpoint,
  { address, type, port }: ServerAddress,
): void {
  const { ready, serving, terminating, zone, target } = endpoint;
  const key = `${target ?? address} ${port}`;
  const known = servers.get(key);
  const isReady = ready && !terminating && known?.isReady !== false;
  const isServing = serving || known?.isServing === true;
  const server: Server = { v4: [], v6: [], names: [], port, zone, target, ...known, isReady, isServing };
  const addresses = type === 'IPv6' ? server.v6 : type === 'FQDN' ? server.names : server.v4;
  if (!addresses.includes(address)) addresses.push(address);
  servers.set(key, server);
}

function endpointOf({ v4, v6, names, port, zone, target }: Server, prefersV6: boolean, podLabels: PodLabels): Endpoint {
  const [address, ...alternatives] = [...(prefersV6 ? [...v6, ...v4] : [...v4, ...v6]), ...names];
  const metadata = target === undefined ? undefined : podLabels.get(target);
  return {
    address: address!,
    port,
    weight: 1,
    ...(alternatives.length > 0 && { alternatives }),
    ...(zone !== undefined && { locality: { zone } }),
    ...(metadata && { metadata }),
  };
}
