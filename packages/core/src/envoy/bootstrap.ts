import { isIP } from 'node:net';
import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import { message, socketAddress, typed, type EnvoyMessage } from './message.ts';
import { fileTlsSocket, type TlsFiles } from './file-tls.ts';
import { XDS_CLUSTER, type HostPort } from './services.ts';

/** Options of {@link envoyBootstrap}. */
export interface BootstrapOptions {
  /** Control planes in order of preference. */
  readonly xds: readonly [HostPort, ...HostPort[]];
  /** Name of the proxy, e.g. `gateway-proxy`. */
  readonly proxy: string;
  /** Default: the name of the proxy. */
  readonly nodeId?: string | undefined;
  readonly adminPort: number;
  /** Of the gateway. Default gw-system. */
  readonly namespace?: string | undefined;
  /** To the control planes. */
  readonly tls?: TlsFiles | undefined;
}

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/**
 * Returns the configuration that an Envoy starts with: it receives everything else from the control plane over one stream, in the
 * incremental form of the protocol.
 *
 * @example
 * envoyBootstrap({ xds: [{ host: '127.0.0.1', port: 9977 }], proxy: 'gateway-proxy', adminPort: 19000 });
 */
export function envoyBootstrap({
  xds,
  proxy,
  nodeId,
  adminPort,
  namespace = gatewayNamespace(),
  tls,
}: BootstrapOptions): EnvoyMessage {
  const ads = { ads: {}, resource_api_version: 'V3' };
  const grpc = { transport_api_version: 'V3', grpc_services: [{ envoy_grpc: { cluster_name: XDS_CLUSTER } }] };
  return {
    node: { id: nodeId ?? proxy, cluster: proxy, metadata: { role: `${namespace}~${proxy}` } },
    admin: { address: socketAddress('127.0.0.1', adminPort) },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        ...grpc,
        set_node_on_first_message_only: true,
      },
      cds_config: ads,
      lds_config: ads,
    },
    // Reports the traffic of upstreams to the control plane.
    cluster_manager: { load_stats_config: { api_type: 'GRPC', ...grpc } },
    static_resources: { clusters: [xdsCluster(xds, tls)] },
    // The control plane has checked the size of expressions already.
    layered_runtime: {
      layers: [{ name: 'static', static_layer: { re2: { max_program_size: { error_level: 1_000_000 } } } }],
    },
  };
}

function xdsCluster(xds: BootstrapOptions['xds'], tls: TlsFiles | undefined): EnvoyMessage {
  return message({
    name: XDS_CLUSTER,
    type: xds.every(({ host }) => isIP(host) > 0) ? 'STATIC' : 'STRICT_DNS',
    connect_timeout: '5s',
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: typed(HTTP_OPTIONS, {
        explicit_http_config: {
          // Detects a control plane that disappeared without closing the connection.
          http2_protocol_options: { connection_keepalive: { interval: '30s', timeout: '10s' } },
        },
      }),
    },
    load_assignment: {
      cluster_name: XDS_CLUSTER,
      endpoints: xds.map(({ host, port }, priority) =>
        message({
          lb_endpoints: [{ endpoint: { address: socketAddress(host, port) } }],
          priority: priority || undefined,
        }),
      ),
    },
    transport_socket: tls && fileTlsSocket(tls, xds[0].host),
  });
}
