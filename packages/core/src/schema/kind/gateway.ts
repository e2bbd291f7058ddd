import { MultiDestination, DestinationSpec } from '../route/destination.ts';
import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';
import {
  HttpListenerOptions,
  ListenerOptions,
  RouteConfigOptions,
  TcpListenerOptions,
} from '../listener/gateway-options.ts';
import { HttpConnectionManagerSettings } from '../listener/http-connection-manager.ts';
import { LabelExpression } from '../route/matcher.ts';
import { SslConfig } from '../listener/ssl-config.ts';

const httpGateway = f.block({
  virtualServices: f.list(f.ref(), 'Virtual services by name; only used without expressions and selector.'),
  virtualServiceSelector: f.map(f.text(), 'Labels that a virtual service must have.'),
  virtualServiceExpressions: f.group(
    'Expressions that the labels of a virtual service must match; take precedence over the selector.',
    { expressions: f.list(LabelExpression, 'All must match.') },
  ),
  virtualServiceNamespaces: f.texts('Namespaces in which selectors search; `*` is all. Empty: all.'),
  options: f.of(HttpListenerOptions, 'HTTP options.'),
});
/** Serves HTTP. Nothing chosen: all virtual services. */
export interface HttpGateway extends f.Static<typeof httpGateway> {}
export const HttpGateway = f.named<HttpGateway>('HttpGateway', httpGateway);

const tcpDestination = f.block(f.exclusive, {
  single: f.of(DestinationSpec, 'One destination.'),
  multi: f.of(MultiDestination, 'Several weighted destinations.'),
  upstreamGroup: f.ref('An UpstreamGroup.'),
  forwardSniClusterName: f.empty(
    'Uses the server name (SNI) as the cluster name, `<name>_<namespace>`. Clients can then reach every upstream.',
  ),
});
const tcpHost = f.block({
  name: f.text('Name in logs: `%ROUTE_NAME%`.'),
  sslConfig: f.of(
    SslConfig,
    'Server names of this host, and its certificate. Without a certificate, TLS passes through to the upstream, and the server names select the host.',
  ),
  destination: f.of(tcpDestination, 'The destination of connections.'),
});
/** Where TCP connections of one listener go. */
export interface TcpHost extends f.Static<typeof tcpHost> {}
export const TcpHost = f.named<TcpHost>('TcpHost', tcpHost);

const tcpGateway = f.block({
  tcpHosts: f.list(TcpHost, 'TCP hosts; the server name of a connection selects one.'),
  options: f.of(TcpListenerOptions, 'TCP options of each host.'),
});
/** Serves TCP. */
export interface TcpGateway extends f.Static<typeof tcpGateway> {}
export const TcpGateway = f.named<TcpGateway>('TcpGateway', tcpGateway);

const matcher = f.block({
  sslConfig: f.of(
    SslConfig,
    'Matches TLS connections with these server names. Other fields are defaults for virtual services and TCP hosts.',
  ),
  sourcePrefixRanges: f.groups('Source addresses of clients. Empty: any.', {
    addressPrefix: f.text('First address.'),
    prefixLen: f.int('Length of the prefix in bits. Default: 0, every address.', { minimum: 0, maximum: 128 }),
  }),
  passthroughCipherSuites: f.texts(
    'Matches TLS clients that offer only these cipher suites (OpenSSL names). For TCP hosts without a certificate: passes clients that are too old for the gateway through to a server that accepts them.',
  ),
});
/** Selects the connections of an inner gateway. */
export interface ConnectionMatcher extends f.Static<typeof matcher> {}
export const ConnectionMatcher = f.named<ConnectionMatcher>('ConnectionMatcher', matcher);

const delegated = {
  ref: f.ref('One gateway. Default namespace: that of the enclosing resource.'),
  selector: f.group('All that match.', {
    labels: f.map(f.text(), 'Labels that it must have.'),
    namespaces: f.texts('Namespaces to search; `*` is all. Empty: that of the enclosing resource.'),
    expressions: f.list(LabelExpression, 'Expressions that its labels must match.'),
  }),
} as const;
const hybridGateway = f.block({
  matchedGateways: f.groups(
    'Inner gateways. If set, delegated gateways have no effect.',
    f.oneOf(['httpGateway', 'tcpGateway']),
    {
      matcher: f.of(ConnectionMatcher, 'Connections that it accepts.'),
      httpGateway: f.of(HttpGateway, 'Serves HTTP.'),
      tcpGateway: f.of(TcpGateway, 'Serves TCP.'),
    },
  ),
  delegatedHttpGateways: f.group('MatchableHttpGateways that belong to it.', {
    ...delegated,
    preventChildOverrides: f.flag('These settings override those of the selected gateways.'),
    httpConnectionManagerSettings: f.of(
      HttpConnectionManagerSettings,
      'Defaults for fields that the selected gateways do not set.',
    ),
    sslConfig: f.of(
      SslConfig,
      'TLS defaults for fields that the selected gateways do not set. If set, only gateways with TLS are selected, otherwise only gateways without TLS.',
    ),
  }),
  delegatedTcpGateways: f.group('MatchableTcpGateways that belong to it.', delegated),
});

const fields = f.block(f.oneOf(['httpGateway', 'tcpGateway', 'hybridGateway']), {
  bindAddress: f.text('Address to listen on.', { default: DEFAULTS.bindAddress }),
  bindPort: f.port('Port to listen on.'),
  ssl: f.flag('Serves virtual services with `sslConfig`; false serves those without.'),
  proxyNames: f.texts('Proxies that listen.', { default: [DEFAULTS.proxyName] }),
  options: f.of(ListenerOptions, 'Options of the listener.'),
  routeOptions: f.of(RouteConfigOptions, 'Options of all its routes.'),
  useProxyProto: f.flag('Deprecated: as `options.proxyProtocol: {}`.'),
  httpGateway: f.of(HttpGateway, 'Serves HTTP.'),
  tcpGateway: f.of(TcpGateway, 'Serves TCP.'),
  hybridGateway: f.of(hybridGateway, 'Several gateways on one port, by TLS and client address.'),
});
/** `spec` of a Gateway. */
export interface GatewaySpec extends f.Static<typeof fields> {}
export const GatewaySpec = f.named<GatewaySpec>('GatewaySpec', fields);

const matchableHttp = f.block({
  matcher: f.of(ConnectionMatcher, 'Connections that it accepts.'),
  httpGateway: f.of(HttpGateway, 'Serves HTTP.'),
});
/** `spec` of a MatchableHttpGateway. */
export interface MatchableHttpGatewaySpec extends f.Static<typeof matchableHttp> {}
export const MatchableHttpGatewaySpec = f.named<MatchableHttpGatewaySpec>('MatchableHttpGatewaySpec', matchableHttp);

const matchableTcp = f.block({
  matcher: f.of(ConnectionMatcher, 'Connections that it accepts.'),
  tcpGateway: f.of(TcpGateway, 'Serves TCP.'),
});
/** `spec` of a MatchableTcpGateway. */
export interface MatchableTcpGatewaySpec extends f.Static<typeof matchableTcp> {}
export const MatchableTcpGatewaySpec = f.named<MatchableTcpGatewaySpec>('MatchableTcpGatewaySpec', matchableTcp);
