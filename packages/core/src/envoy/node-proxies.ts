import { isIP } from 'node:net';
import type { Listener } from '../contract/snapshot.ts';
import { proxyHeaderSocket } from './cluster.ts';
import { listenerFilters } from './listener.ts';
import { listenAddress, message, socketAddress, typed, type EnvoyMessage } from './message.ts';
import { fileTlsSocket, type TlsFiles } from './file-tls.ts';
import type { HostPort } from './services.ts';

/** Returns the cluster of the Node proxies for a listener. */
export function nodeClusterName({ bindPort, ssl }: Pick<Listener, 'bindPort' | 'ssl'>): string {
  return `edge-gateway.node-proxies.${ssl ? 'tls-' : ''}${bindPort}`;
}

/** Returns the cluster of the Node proxies for the routes of a listener. `fingerprints` are those of its certificates. */
export function nodeCluster(listener: Listener, host: string, fingerprints: readonly string[]): EnvoyMessage {
  const name = nodeClusterName(listener);
  const tls = listener.ssl ? nodeTls(fingerprints) : undefined;
  return typed('envoy.config.cluster.v3.Cluster', {
    ...hostCluster(name, { host, port: listener.bindPort }),
    // A request over HTTP/2 may be a gRPC call.
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: typed(HTTP_OPTIONS, {
        use_downstream_protocol_config: { http_protocol_options: {}, http2_protocol_options: {} },
        ...(listener.ssl && { upstream_http_protocol_options: { auto_sni: true } }),
      }),
    },
    transport_socket: proxyHeaderSocket('V2', tls),
  });
}

/** Returns the cluster of the Node proxies for the connections of a listener, which are forwarded as they are. */
export function nodeTcpCluster(listener: Listener, host: string): EnvoyMessage {
  return typed('envoy.config.cluster.v3.Cluster', {
    ...hostCluster(nodeTcpClusterName(listener), { host, port: listener.bindPort }),
    transport_socket: proxyHeaderSocket('V2', undefined),
  });
}

const nodeTcpClusterName = ({ bindPort }: Pick<Listener, 'bindPort'>): string =>
  `edge-gateway.node-proxies.tcp-${bindPort}`;

/** Returns the cluster of a gRPC service; in plain text without `tls`. */
export function grpcCluster(name: string, at: HostPort, tls?: TlsFiles): EnvoyMessage {
  return typed('envoy.config.cluster.v3.Cluster', {
    ...hostCluster(name, at),
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: typed(HTTP_OPTIONS, { explicit_http_config: { http2_protocol_options: {} } }),
    },
    transport_socket: tls && fileTlsSocket(tls, at.host),
  });
}

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const UNLIMITED = 1_000_000;

function hostCluster(name: string, { host, port }: HostPort): EnvoyMessage {
  return message({
    name,
    type: isIP(host) === 0 ? 'STRICT_DNS' : 'STATIC',
    connect_timeout: '5s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(host, port) } }] }],
    },
    // The limits of the upstreams apply.
    circuit_breakers: {
      thresholds: [
        {
          priority: 'DEFAULT',
          max_connections: UNLIMITED,
          max_pending_requests: UNLIMITED,
          max_requests: UNLIMITED,
          max_retries: UNLIMITED,
        },
      ],
    },
  });
}

/** The certificate must be one of those that the listener itself has. */
function nodeTls(fingerprints: readonly string[]): EnvoyMessage {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: typed('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', {
      common_tls_context: { validation_context: { verify_certificate_hash: fingerprints } },
    }),
  };
}

/** Returns a listener that forwards its connections to the Node proxies, with the address of the client. */
export function handedOverListener(listener: Listener): EnvoyMessage {
  const proxied = listener.options.proxyProtocol !== undefined || listener.useProxyProto;
  const tcp = typed('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', {
    stat_prefix: 'tcp',
    cluster: nodeTcpClusterName(listener),
    idle_timeout: '0s',
  });
  return typed('envoy.config.listener.v3.Listener', {
    name: listener.name,
    address: listenAddress(listener),
    filter_chains: [{ filters: [{ name: 'envoy.filters.network.tcp_proxy', typed_config: tcp }] }],
    // The client address in the received PROXY header is written into the one for the Node proxies.
    listener_filters: proxied ? listenerFilters({ ...listener, ssl: false, parts: [] }) : undefined,
  });
}
