import { isIP } from 'node:net';
import { DEFAULT_NAMESPACE } from '../resource/resource.ts';
import { message, socketAddress, typed, type EnvoyMessage } from './message.ts';
import type { HostPort } from './services.ts';

/** Files of TLS to the control plane. */
export interface BootstrapTls {
  /** CA certificates for control planes. */
  readonly ca: string;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Default: the host of the first control plane. */
  readonly serverName?: string | undefined;
}

/** Options of {@link envoyBootstrap}. */
export interface BootstrapOptions {
  /** Control planes in order of preference. */
  readonly xds: readonly [HostPort, ...HostPort[]];
  /** Name of the proxy, e.g. `gateway-proxy`. */
  readonly proxy: string;
  /** Default: the name of the proxy. */
  readonly nodeId?: string | undefined;
  readonly adminPort: number;
  readonly tls?: BootstrapTls | undefined;
}

const CLUSTER = 'edge-gateway.xds';
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/**
 * Returns the configuration that an Envoy starts with: it receives everything else from the control plane over one stream, in the
 * incremental form of the protocol.
 *
 * @example
 * envoyBootstrap({ xds: [{ host: '127.0.0.1', port: 9977 }], proxy: 'gateway-proxy', adminPort: 19000 });
 */
export function envoyBootstrap({ xds, proxy, nodeId, adminPort, tls }: BootstrapOptions): EnvoyMessage {
  const ads = { ads: {}, resource_api_version: 'V3' };
  return {
    node: { id: nodeId ?? proxy, cluster: proxy, metadata: { role: `${DEFAULT_NAMESPACE}~${proxy}` } },
    admin: { address: socketAddress('127.0.0.1', adminPort) },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: CLUSTER } }],
      },
      cds_config: ads,
      lds_config: ads,
    },
    static_resources: { clusters: [xdsCluster(xds, tls)] },
    // The control plane has checked the size of expressions already.
    layered_runtime: {
      layers: [{ name: 'static', static_layer: { re2: { max_program_size: { error_level: 1_000_000 } } } }],
    },
  };
}

function xdsCluster(xds: BootstrapOptions['xds'], tls: BootstrapTls | undefined): EnvoyMessage {
  return message({
    name: CLUSTER,
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
      cluster_name: CLUSTER,
      endpoints: xds.map(({ host, port }, priority) =>
        message({
          lb_endpoints: [{ endpoint: { address: socketAddress(host, port) } }],
          priority: priority || undefined,
        }),
      ),
    },
    transport_socket: tls && tlsSocket(tls, xds[0].host),
  });
}

function tlsSocket({ ca, cert, key, serverName }: BootstrapTls, host: string): EnvoyMessage {
  const name = serverName ?? host;
  const certificates = cert && key ? [{ certificate_chain: { filename: cert }, private_key: { filename: key } }] : [];
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: typed('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', {
      common_tls_context: message({
        tls_certificates: certificates,
        validation_context: {
          trusted_ca: { filename: ca },
          match_typed_subject_alt_names: [
            { san_type: isIP(name) === 0 ? 'DNS' : 'IP_ADDRESS', matcher: { exact: name } },
          ],
        },
      }),
      sni: isIP(name) === 0 ? name : undefined,
    }),
  };
}
