import type { Listener, ListenerPart, TcpHost, TlsConfiguration } from '../contract/snapshot.ts';
import { inEffect } from '../schema/in-effect.ts';
import type { SocketOption } from '../syntax/socket-options.ts';
import { httpManager } from './http-manager.ts';
import { listenAddress, message, protoDuration, socketAddress, typed, type EnvoyMessage } from './message.ts';
import { downstreamTls } from './tls.ts';
import type { TranslationContext } from './translation-context.ts';

type ProxyProtocol = NonNullable<Listener['options']['proxyProtocol']>;

const PROXY_PROTOCOL = 'envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol';
const SNI_CLUSTER = 'envoy.extensions.filters.network.sni_cluster.v3.SniCluster';
const TCP_PROXY = 'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy';
const TLS_INSPECTOR = 'envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector';

/** A listener as an Envoy Listener: one filter chain, or one for each certificate and part. */
export function listenerMessage(listener: Listener, context: TranslationContext): EnvoyMessage {
  const { name, bindAddress, bindPort } = listener;
  const options = inEffect('ListenerOptions', listener.options);
  const { parts } = listener;
  const chains = parts ? parts.flatMap((part) => partChains(part, context)) : httpChains(listener, context);
  return typed('envoy.config.listener.v3.Listener', {
    name,
    address: context.services ? listenAddress(listener) : socketAddress(bindAddress, bindPort),
    filter_chains: chains,
    per_connection_buffer_limit_bytes: options.perConnectionBufferLimitBytes,
    listener_filters: listenerFilters(listener),
    socket_options: options.socketOptions?.map(socketOption),
  });
}

function socketOption({ intValue, bufValue, ...option }: SocketOption): EnvoyMessage {
  return message({ ...option, int_value: intValue, buf_value: bufValue });
}

/** Returns the filters of connections: the PROXY header, and the server name of TLS. */
export function listenerFilters({ ssl, parts = [], useProxyProto, options }: Listener): EnvoyMessage[] {
  const inspects = ssl || parts.some(({ match }) => match.tls || match.serverNames.length > 0);
  const proxied = options.proxyProtocol ?? (useProxyProto ? {} : undefined);
  return [
    ...(proxied ? [{ name: 'envoy.filters.listener.proxy_protocol', typed_config: proxyProtocol(proxied) }] : []),
    ...(inspects ? [{ name: 'envoy.filters.listener.tls_inspector', typed_config: typed(TLS_INSPECTOR) }] : []),
  ];
}

function proxyProtocol({ rules, allowRequestsWithoutProxyProtocol }: ProxyProtocol): EnvoyMessage {
  return typed(PROXY_PROTOCOL, {
    rules: rules?.map(({ tlvType, onTlvPresent: { key, metadataNamespace } = {} }) => ({
      tlv_type: tlvType,
      on_tlv_present: message({ key, metadata_namespace: metadataNamespace }),
    })),
    allow_requests_without_proxy_protocol: allowRequestsWithoutProxyProtocol,
  });
}

function httpChains(listener: Listener, context: TranslationContext): EnvoyMessage[] {
  const filters = [httpManager(listener, context)];
  return listener.ssl ? listener.sslConfigurations.map((tls) => tlsChain(tls, filters, context)) : [{ filters }];
}

function partChains({ match, http, tcp }: ListenerPart, context: TranslationContext): EnvoyMessage[] {
  const { serverNames, sourceRanges } = match;
  const filter_chain_match = message({
    server_names: serverNames.length > 0 ? serverNames : undefined,
    source_prefix_ranges:
      sourceRanges.length > 0
        ? sourceRanges.map(({ addressPrefix, prefixLen }) => ({ address_prefix: addressPrefix, prefix_len: prefixLen }))
        : undefined,
    transport_protocol: match.tls ? 'tls' : undefined,
  });
  if (http) return httpChains(http, context).map((chain) => ({ ...chain, filter_chain_match }));
  const [configuration] = tcp?.sslConfigurations ?? [];
  const socket = configuration && downstreamTls(inEffect('SslConfig', configuration.sslConfig), context);
  return [message({ filter_chain_match, filters: tcp ? tcpFilters(tcp) : [], transport_socket: socket })];
}

/** The TCP proxy of a host, preceded by the SNI cluster filter if the server name selects the cluster. */
function tcpFilters({ name, destinations, forwardsServerName, options }: TcpHost): EnvoyMessage[] {
  const { maxConnectAttempts, idleTimeout, tunnelingConfig } = options.tcpProxySettings ?? {};
  const [only] = destinations;
  const proxy = typed(TCP_PROXY, {
    stat_prefix: 'tcp',
    cluster: destinations.length === 1 ? only?.upstream : forwardsServerName ? name || 'sni' : undefined,
    weighted_clusters:
      destinations.length > 1
        ? { clusters: destinations.map(({ upstream, weight }) => ({ name: upstream, weight })) }
        : undefined,
    idle_timeout: idleTimeout,
    max_connect_attempts: maxConnectAttempts,
    tunneling_config: tunnelingConfig && { hostname: tunnelingConfig.hostname },
  });
  return [
    ...(forwardsServerName ? [{ name: 'envoy.filters.network.sni_cluster', typed_config: typed(SNI_CLUSTER) }] : []),
    { name: 'envoy.filters.network.tcp_proxy', typed_config: proxy },
  ];
}

function tlsChain({ sslConfig, sniDomains }: TlsConfiguration, filters: EnvoyMessage[], context: TranslationContext) {
  const config = inEffect('SslConfig', sslConfig);
  return message({
    filter_chain_match: sniDomains.length > 0 ? { server_names: sniDomains } : undefined,
    filters,
    transport_socket: downstreamTls(config, context),
    ...(context.services && {
      transport_socket_connect_timeout: protoDuration(config.transportSocketConnectTimeout ?? '10s'),
    }),
  });
}
