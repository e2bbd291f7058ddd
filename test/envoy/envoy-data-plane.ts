import { startEnvoyProcess } from '../parts/envoy-process.ts';
import type { DataPlane } from './our-data-plane.ts';
import { fillIn, listenersOf, REFUSED_PORT, type PlacedGroup } from './placed-group.ts';
import { envoys, envoyType } from './scenario.ts';

/** Serves the groups with an Envoy process. Throws what it prints if it rejects its configuration. */
export async function startEnvoy(groups: readonly PlacedGroup[]): Promise<DataPlane> {
  return await runEnvoy(bootstrapOf(groups), listenersOf(groups).size);
}

/** Starts an Envoy with a number of listeners. `admin` is `host:port` of its admin server. Throws what it prints if it rejects its configuration. */
export async function runEnvoy(bootstrap: object, listeners: number): Promise<DataPlane & { readonly admin: string }> {
  const config = JSON.stringify({ admin: { address: socketAddress(0) }, ...bootstrap });
  const { ports, ...envoy } = await startEnvoyProcess(config, 'envoy.json', listeners);
  return { port: (listener) => ports.get(listener)!, ...envoy };
}

/** An address of 127.0.0.1. */
export const socketAddress = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

function bootstrapOf(groups: readonly PlacedGroup[]): object {
  return {
    static_resources: {
      listeners: [...listenersOf(groups)].map(([name, members]) => listenerOf(name, members)),
      clusters: groups.flatMap(clustersOf),
    },
  };
}

/** The filters of every listener: those that routes turn on. */
const FILTERS = [
  { name: 'envoy.filters.http.cors', typed_config: envoyType('filters.http.cors.v3.Cors') },
  { name: 'envoy.filters.http.fault', typed_config: envoyType('filters.http.fault.v3.HTTPFault') },
  {
    name: 'envoy.filters.http.csrf',
    typed_config: {
      ...envoyType('filters.http.csrf.v3.CsrfPolicy'),
      filter_enabled: { default_value: { numerator: 0 } },
    },
  },
];

const ROUTER = { name: 'router', typed_config: envoyType('filters.http.router.v3.Router') };

function listenerOf(name: string, members: readonly PlacedGroup[]): object {
  const { manager, routeConfiguration, filters = [] } = members[0]!.envoy ?? {};
  const connectionManager = {
    ...envoyType('filters.network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'http',
    use_remote_address: true,
    normalize_path: true,
    delayed_close_timeout: '0.05s',
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    http_filters: [...filters, ...FILTERS, ROUTER],
    route_config: { virtual_hosts: members.flatMap(virtualHostsOf), ...routeConfiguration },
    ...manager,
  };
  return {
    name,
    address: socketAddress(0),
    filter_chains: [{ filters: [{ name: 'http', typed_config: connectionManager }] }],
  };
}

const PROTOCOL_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** The protocol options of a cluster, with HTTP/2 instead of HTTP/1.1. */
function withHttp2(cluster: { readonly typed_extension_protocol_options?: Readonly<Record<string, object>> }): object {
  const options = cluster.typed_extension_protocol_options?.[PROTOCOL_OPTIONS] ?? {
    '@type': `type.googleapis.com/${PROTOCOL_OPTIONS}`,
  };
  return { [PROTOCOL_OPTIONS]: { ...options, explicit_http_config: { http2_protocol_options: {} } } };
}

function virtualHostsOf(group: PlacedGroup): object[] {
  const { routes = [envoys()], virtualHost = {}, virtualHosts = [] } = group.envoy ?? {};
  return [{ domains: ['$host'], routes, ...virtualHost }, ...virtualHosts].map((each, index) =>
    fillIn(group, { name: `${group.id}-${index}`, ...each }),
  );
}

function clustersOf(group: PlacedGroup): object[] {
  const cluster = (name: string, ports: readonly number[], more: object = {}): object => ({
    name: `${group.id}-${name}`,
    connect_timeout: '5s',
    load_assignment: {
      cluster_name: `${group.id}-${name}`,
      endpoints: [{ lb_endpoints: ports.map((port) => ({ endpoint: { address: socketAddress(port) } })) }],
    },
    ...more,
    ...(group.upstreamVersion === 2 && { typed_extension_protocol_options: withHttp2(more) }),
  });
  return [
    cluster('up', [group.up.port], group.envoy?.cluster),
    cluster('other', [group.other.port]),
    cluster('refused', [REFUSED_PORT]),
    cluster('empty', []),
  ];
}
