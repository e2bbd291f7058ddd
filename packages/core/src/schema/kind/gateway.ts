import { MultiDestination, DestinationSpec } from '../route/destination.ts';
import { block, bool, empty, int, list, map, named, notYet, of, ref, text, type Static } from '../field.ts';
import {
  HttpListenerOptions,
  ListenerOptions,
  RouteConfigOptions,
  TcpListenerOptions,
} from '../listener/gateway-options.ts';
import { HttpConnectionManagerSettings } from '../listener/http-connection-manager.ts';
import { LabelExpression } from '../route/matcher.ts';
import { SslConfig } from '../listener/ssl-config.ts';

const httpGateway = block({
  virtualServices: list(ref(), 'Virtual services by name; only used without expressions and selector.'),
  virtualServiceSelector: map(text(), 'Labels that a virtual service must have.'),
  virtualServiceExpressions: of(
    block({ expressions: list(LabelExpression, 'All must match.') }),
    'Expressions that the labels of a virtual service must match; take precedence over the selector.',
  ),
  virtualServiceNamespaces: list(text(), 'Namespaces in which selectors search; `*` is all. Empty: all.'),
  options: of(HttpListenerOptions, 'HTTP options.'),
});
/** Serves HTTP. Nothing chosen: all virtual services. */
export interface HttpGateway extends Static<typeof httpGateway> {}
export const HttpGateway = named<HttpGateway>('HttpGateway', httpGateway);

const tcpDestination = block(
  {
    single: of(DestinationSpec, 'One destination.'),
    multi: of(MultiDestination, 'Several weighted destinations.'),
    upstreamGroup: ref('An UpstreamGroup.'),
    forwardSniClusterName: empty('The server name (SNI) is the name of the cluster.'),
  },
  { oneOf: [{ members: ['single', 'multi', 'upstreamGroup', 'forwardSniClusterName'] }] },
);
const tcpHost = block({
  name: text('Name in logs and statistics.'),
  sslConfig: of(SslConfig, 'TLS to clients, and the server names of this host.'),
  destination: of(tcpDestination, 'The destination of connections.'),
});
/** Where TCP connections of one listener go. */
export interface TcpHost extends Static<typeof tcpHost> {}
export const TcpHost = named<TcpHost>('TcpHost', tcpHost);

const tcpGateway = block({
  tcpHosts: list(TcpHost, 'The hosts.'),
  options: of(TcpListenerOptions, 'TCP options.'),
});
/** Serves TCP. */
export interface TcpGateway extends Static<typeof tcpGateway> {}
export const TcpGateway = named<TcpGateway>('TcpGateway', tcpGateway);

const matcher = block({
  sslConfig: of(SslConfig, 'TLS, and the server names.'),
  sourcePrefixRanges: list(
    block({
      addressPrefix: text('First address.'),
      prefixLen: int('Length of the prefix in bits.', { minimum: 0, maximum: 128 }),
    }),
    'Source addresses of clients.',
  ),
  passthroughCipherSuites: list(text(), 'Cipher suites that pass through without TLS termination.'),
});
/** Which connections an inner gateway takes. */
export interface ConnectionMatcher extends Static<typeof matcher> {}
export const ConnectionMatcher = named<ConnectionMatcher>('ConnectionMatcher', matcher);

const delegated = {
  ref: ref('One gateway.'),
  selector: of(
    block({
      labels: map(text(), 'Labels that it must have.'),
      namespaces: list(text(), 'Namespaces to search; `*` is all.'),
      expressions: list(LabelExpression, 'Expressions that its labels must match.'),
    }),
    'All that match.',
  ),
} as const;
const hybridGateway = block({
  matchedGateways: list(
    block(
      {
        matcher: of(ConnectionMatcher, 'Connections that it accepts.'),
        httpGateway: of(HttpGateway, 'Serves HTTP.'),
        tcpGateway: of(TcpGateway, 'Serves TCP.'),
      },
      { oneOf: [{ members: ['httpGateway', 'tcpGateway'] }] },
    ),
    'Inner gateways; take precedence over delegated ones.',
  ),
  delegatedHttpGateways: of(
    block({
      ...delegated,
      preventChildOverrides: bool('These settings override those of the selected gateways.', { default: false }),
      httpConnectionManagerSettings: of(HttpConnectionManagerSettings, 'Settings of the selected gateways.'),
      sslConfig: of(SslConfig, 'TLS of the selected gateways.'),
    }),
    'MatchableHttpGateways that belong to it.',
  ),
  delegatedTcpGateways: of(block(delegated), 'MatchableTcpGateways that belong to it.'),
});

const fields = block(
  {
    bindAddress: text('Address to listen on.', { default: '::' }),
    bindPort: int('Port to listen on.', { minimum: 0, maximum: 65535 }),
    ssl: bool('Serves virtual services with `sslConfig`; false serves those without.', { default: false }),
    proxyNames: list(text(), 'Proxies that listen.', { default: ['gateway-proxy'] }),
    options: of(ListenerOptions, 'Options of the listener.'),
    routeOptions: of(RouteConfigOptions, 'Options of all its routes.'),
    useProxyProto: bool('Deprecated; reads the PROXY header. See `options.proxyProtocol`.', {
      default: false,
      ...notYet,
    }),
    httpGateway: of(HttpGateway, 'Serves HTTP.'),
    tcpGateway: of(TcpGateway, 'Serves TCP.', notYet),
    hybridGateway: of(hybridGateway, 'Several gateways on one port, by TLS and client address.', notYet),
  },
  { oneOf: [{ members: ['httpGateway', 'tcpGateway', 'hybridGateway'] }] },
);
/** `spec` of a Gateway. */
export interface GatewaySpec extends Static<typeof fields> {}
export const GatewaySpec = named<GatewaySpec>('GatewaySpec', fields);

const matchableHttp = block({
  matcher: of(ConnectionMatcher, 'Connections that it accepts.', notYet),
  httpGateway: of(HttpGateway, 'Serves HTTP.', notYet),
});
/** `spec` of a MatchableHttpGateway. */
export interface MatchableHttpGatewaySpec extends Static<typeof matchableHttp> {}
export const MatchableHttpGatewaySpec = named<MatchableHttpGatewaySpec>('MatchableHttpGatewaySpec', matchableHttp);

const matchableTcp = block({
  matcher: of(ConnectionMatcher, 'Connections that it accepts.', notYet),
  tcpGateway: of(TcpGateway, 'Serves TCP.', notYet),
});
/** `spec` of a MatchableTcpGateway. */
export interface MatchableTcpGatewaySpec extends Static<typeof matchableTcp> {}
export const MatchableTcpGatewaySpec = named<MatchableTcpGatewaySpec>('MatchableTcpGatewaySpec', matchableTcp);
