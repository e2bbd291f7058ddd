import { inEffect, type Listener, type Secrets, type TlsConfiguration } from '@edge-gateway/core';
import { httpManager } from './http-manager.ts';
import { message, socketAddress, typed, type Message } from './json.ts';
import type { DumpContext } from './route-config.ts';
import { downstreamTls } from './tls.ts';

const TLS_INSPECTOR = 'envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector';

/** A listener as Listener: one filter chain, or one for each certificate. */
export function listenerMessage(listener: Listener, { secrets, settings }: DumpContext): Message {
  const { name, bindAddress, bindPort, ssl, sslConfigurations } = listener;
  const options = inEffect('ListenerOptions', listener.options);
  const filters = [httpManager(listener, settings)];
  const chains = ssl ? sslConfigurations.map((tls) => tlsChain(tls, filters, secrets)) : [{ filters }];
  return typed('envoy.config.listener.v3.Listener', {
    name,
    address: socketAddress(bindAddress, bindPort),
    filter_chains: chains,
    per_connection_buffer_limit_bytes: options.perConnectionBufferLimitBytes,
    listener_filters: ssl ? [{ name: 'envoy.filters.listener.tls_inspector', typed_config: typed(TLS_INSPECTOR) }] : [],
  });
}

function tlsChain({ sslConfig, sniDomains }: TlsConfiguration, filters: Message[], secrets: Secrets): Message {
  return message({
    filter_chain_match: sniDomains.length > 0 ? { server_names: sniDomains } : undefined,
    filters,
    transport_socket: downstreamTls(inEffect('SslConfig', sslConfig), secrets),
  });
}
