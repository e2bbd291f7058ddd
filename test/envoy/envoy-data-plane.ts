import { startEnvoyProcess } from '../parts/envoy-process.ts';
import type { Certificates } from '../parts/certificates.ts';
import { LOG_FIELDS } from './log/log-fields.ts';
import type { DataPlane } from './our-data-plane.ts';
import { fillIn, listenersOf, REFUSED_PORT, type PlacedGroup } from './placed-group.ts';
import { envoys, envoyType } from './scenario.ts';

/** Serves the groups with an Envoy process, whose access log is a file. Throws what it prints if it rejects its configuration. */
export async function startEnvoy(groups: readonly PlacedGroup[], logPath: string): Promise<DataPlane> {
  return await runEnvoy(bootstrapOf(groups, logPath), listenersOf(groups).size);
}

/** Starts an Envoy with a number of listeners. `admin` is `host:port` of its admin server. Throws what it prints if it rejects its configuration. */
export async function runEnvoy(bootstrap: object, listeners: number): Promise<DataPlane & { readonly admin: string }> {
  const config = JSON.stringify({ admin: { address: socketAddress(0) }, ...bootstrap });
  const { ports, ...envoy } = await startEnvoyProcess(config, 'envoy.json', listeners);
  return { port: (listener) => ports.get(listener)!, ...envoy };
}

/** An address of 127.0.0.1. */
export const socketAddress = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

function bootstrapOf(groups: readonly PlacedGroup[], logPath: string): object {
  return {
    static_resources: {
      listeners: [...listenersOf(groups)].map(([name, members]) => listenerOf(name, members, logPath)),
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

function listenerOf(name: string, members: readonly PlacedGroup[], logPath: string): object {
  const { certificates, envoy = {} } = members[0]!;
  const { manager, routeConfiguration, filters = [] } = envoy;
  const connectionManager = {
    ...envoyType('filters.network.http_connection_manager.v3.HttpConnectionManager'),
    stat_prefix: 'http',
    use_remote_address: true,
    normalize_path: true,
    delayed_close_timeout: '0.05s',
    access_log: [
      {
        name: 'file',
        typed_config: {
          ...envoyType('access_loggers.file.v3.FileAccessLog'),
          path: logPath,
          log_format: { json_format: LOG_FIELDS },
        },
      },
    ],
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    http2_protocol_options: WITH_TUNNELS,
    http_filters: [...filters, ...FILTERS, ROUTER],
    route_config: { virtual_hosts: members.flatMap(virtualHostsOf), ...routeConfiguration },
    ...manager,
  };
  return {
    name,
    address: socketAddress(0),
    filter_chains: [
      {
        filters: [{ name: 'http', typed_config: connectionManager }],
        ...(certificates && { transport_socket: listenerTls(certificates) }),
      },
    ],
    ...(certificates && {
      listener_filters: [{ name: 'tls', typed_config: envoyType('filters.listener.tls_inspector.v3.TlsInspector') }],
    }),
  };
}

/** TLS of a listener, with a version that the client chooses. */
const listenerTls = ({ cert, key }: Certificates) => ({
  name: 'tls',
  typed_config: {
    ...envoyType('transport_sockets.tls.v3.DownstreamTlsContext'),
    common_tls_context: {
      alpn_protocols: ['h2', 'http/1.1'],
      tls_certificates: [{ certificate_chain: { filename: cert }, private_key: { filename: key } }],
    },
  },
});

/** TLS to an upstream; the protocol options of the cluster choose what ALPN offers. */
const upstreamTls = ({ ca }: Certificates) => ({
  name: 'tls',
  typed_config: {
    ...envoyType('transport_sockets.tls.v3.UpstreamTlsContext'),
    common_tls_context: { validation_context: { trusted_ca: { filename: ca } } },
  },
});

/** Accepts extended CONNECT requests. */
const WITH_TUNNELS = { allow_connect: true };

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
    ...(group.certificates && { transport_socket: upstreamTls(group.certificates) }),
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
