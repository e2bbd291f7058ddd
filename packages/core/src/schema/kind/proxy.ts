import * as f from '../field.ts';
import { ConnectionMatcher, TcpHost } from './gateway.ts';
import {
  HttpListenerOptions,
  ListenerOptions,
  RouteConfigOptions,
  TcpListenerOptions,
} from '../listener/gateway-options.ts';
import { SslConfig } from '../listener/ssl-config.ts';

const statPrefix = f.text('Prefix of the statistics.', { default: 'http' });
const httpListener = f.group('Serves HTTP.', {
  virtualHosts: f.list(f.anything(), 'The virtual hosts, with delegation expanded.'),
  options: f.of(HttpListenerOptions, 'HTTP options.'),
  statPrefix,
});
const tcpListener = f.group('Serves TCP.', {
  tcpHosts: f.list(TcpHost, 'The hosts.'),
  options: f.of(TcpListenerOptions, 'TCP options.'),
  statPrefix: f.text('Prefix of the statistics.', { default: 'tcp' }),
});
const hybridListener = f.block({
  matchedListeners: f.groups('The inner listeners.', {
    matcher: f.of(ConnectionMatcher, 'Connections that it accepts.'),
    httpListener,
    tcpListener,
    sslConfigurations: f.list(SslConfig, 'Certificates.'),
  }),
});
const aggregateListener = f.block({
  httpResources: f.group('Virtual hosts and options that the chains refer to.', {
    virtualHosts: f.map(f.anything(), 'Virtual hosts by name.'),
    httpOptions: f.map(HttpListenerOptions, 'HTTP options by name.'),
  }),
  httpFilterChains: f.groups('The chains.', {
    matcher: f.of(ConnectionMatcher, 'Connections that it accepts.'),
    httpOptionsRef: f.text('Name of its options.'),
    virtualHostRefs: f.texts('Names of its virtual hosts.'),
  }),
  tcpListeners: f.list(f.anything(), 'TCP listeners.'),
});

const listener = f.block(f.oneOf(['httpListener', 'tcpListener', 'hybridListener', 'aggregateListener']), {
  name: f.text('`listener-<address>-<port>`.'),
  bindAddress: f.text('Address to listen on.'),
  bindPort: f.port('Port to listen on.'),
  options: f.of(ListenerOptions, 'Options of the listener.'),
  routeOptions: f.of(RouteConfigOptions, 'Options of all its routes.'),
  useProxyProto: f.flag('Reads the PROXY header.'),
  sslConfigurations: f.list(SslConfig, 'Certificates.'),
  metadataStatic: f.group('Resources that it was generated from.', {
    sources: f.groups('The resources.', {
      resourceRef: f.anything('Name and namespace.'),
      resourceKind: f.text('Kind.'),
      observedGeneration: f.anything('Generation.'),
    }),
  }),
  httpListener,
  tcpListener,
  hybridListener: f.of(hybridListener, 'Several inner listeners.'),
  aggregateListener: f.of(aggregateListener, 'One filter chain per TLS configuration.'),
});

const fields = f.block({
  listeners: f.list(listener, 'The listeners. Written by the gateway; a Proxy that is read has no effect.'),
  compressedSpec: f.text(
    'The spec with its listeners as JSON, compressed by gzip and as base64; at most 64 MiB of JSON. Written with `gateway.compressedProxySpec` of the Settings.',
  ),
});
/** `spec` of a Proxy, which translation writes. */
export interface ProxySpec extends f.Static<typeof fields> {}
export const ProxySpec = f.named<ProxySpec>('ProxySpec', fields);
