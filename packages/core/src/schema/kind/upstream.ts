import { CircuitBreakers } from '../upstream/circuit-breakers.ts';
import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';
import { HealthCheck, OutlierDetection } from '../upstream/health.ts';
import { LoadBalancerConfig } from '../upstream/load-balancer.ts';
import { UpstreamSslConfig } from '../listener/ssl-config.ts';
import { Failover, UPSTREAM_TYPES } from '../upstream/upstream-types.ts';

const WINDOW = { minimum: 65535, maximum: 2147483647 } as const;

const connection = f.block({
  maxRequestsPerConnection: f.uint32('Requests after which a connection is closed. 0: no limit.', { default: 0 }),
  connectTimeout: f.duration('Timeout of connecting.', { default: DEFAULTS.connectTimeout }),
  tcpKeepalive: f.group('TCP keepalive.', {
    keepaliveProbes: f.uint32(
      'Number of unacknowledged probes after which a connection is closed. Ignored before Node 24.19.',
      {
        default: 10,
      },
    ),
    keepaliveTime: f.duration('Idle time before the first probe; rounded up to seconds.', { default: '60s' }),
    keepaliveInterval: f.duration('Interval between probes; rounded up to seconds. Ignored before Node 24.19.', {
      default: '1s',
    }),
  }),
  perConnectionBufferLimitBytes: f.uint32(
    'Maximum number of bytes of a response that wait for a slow client; then the upstream is not read until they are sent. At least 65536 bytes are read at once. Default: 65536.',
  ),
  commonHttpProtocolOptions: f.group('Options of all HTTP versions.', {
    idleTimeout: f.duration('Idle timeout of a connection without requests.', { default: '1h' }),
    maxHeadersCount: f.int(
      'Maximum number of response headers, without those of the connection such as `transfer-encoding`; above it 502.',
      { minimum: 1, default: 100 },
    ),
    maxStreamDuration: f.duration('Maximum duration of one attempt, then 504. Default: no limit.'),
    headersWithUnderscoresAction: f.choice(
      ['ALLOW', 'REJECT_CLIENT_REQUEST', 'DROP_HEADER'],
      'Has no effect: it concerns headers of clients, see the settings of the listener.',
      f.unsupported,
    ),
  }),
  http1ProtocolOptions: f.group('HTTP/1.1.', f.oneOf(['properCaseHeaderKeyFormat', 'preserveCaseHeaderKeyFormat']), {
    enableTrailers: f.flag('Sends and accepts trailers, if `enableTrailers` of the listener is set too.'),
    properCaseHeaderKeyFormat: f.flag('Writes header names of requests in title case, such as `Content-Type`.'),
    preserveCaseHeaderKeyFormat: f.flag('Keeps the case of header names of responses, which is always done.'),
    overrideStreamErrorOnInvalidHttpMessage: f.flag(
      'Has no effect: an invalid response always closes its connection, because the start of the next one is unknown.',
      f.unsupported,
    ),
  }),
});
/** Connections to an upstream. */
export interface ConnectionConfig extends f.Static<typeof connection> {}
export const ConnectionConfig = f.named<ConnectionConfig>('ConnectionConfig', connection);

const fields = f.block(f.oneOf(Object.keys(UPSTREAM_TYPES)), {
  discoveryMetadata: f.group('Written by discovery.', { labels: f.map(f.text(), 'Labels of the discovered service.') }),
  sslConfig: f.of(UpstreamSslConfig, 'TLS to the hosts.'),
  circuitBreakers: f.of(CircuitBreakers, 'Circuit breakers. Default, by field: Settings `gw.circuitBreakers`.'),
  loadBalancerConfig: f.of(LoadBalancerConfig, 'The load balancing algorithm.'),
  connectionConfig: f.of(ConnectionConfig, 'Connections.'),
  protocolSelection: f.choice(
    ['USE_CONFIGURED_PROTOCOL', 'USE_DOWNSTREAM_PROTOCOL'],
    '`USE_DOWNSTREAM_PROTOCOL` sends requests of HTTP/2 clients over HTTP/2 and others over HTTP/1.1. `USE_CONFIGURED_PROTOCOL` applies `useHttp2`.',
  ),
  useHttp2: f.flag(
    'Sends requests over HTTP/2; without TLS with prior knowledge. WebSockets use HTTP/1.1 if the server does not support them over HTTP/2. Default: true for gRPC services, else false.',
  ),
  initialStreamWindowSize: f.int(
    'HTTP/2: bytes of the body of one response that are received before a slow client has read them.',
    { ...WINDOW, default: DEFAULTS.http2StreamWindow },
  ),
  initialConnectionWindowSize: f.int('HTTP/2: bytes that one connection receives before the gateway confirms them.', {
    ...WINDOW,
    default: DEFAULTS.http2ConnectionWindow,
  }),
  maxConcurrentStreams: f.uint32(
    'HTTP/2: maximum number of concurrent requests per connection; 0 is no limit. Above it, or above the limit of the server, another connection is opened.',
    { default: 0 },
  ),
  overrideStreamErrorOnInvalidHttpMessage: f.flag(
    'HTTP/2: an invalid response ends only its stream. Default: its connection accepts no further requests and closes after the last one.',
  ),
  connectionKeepalive: f.group(
    'HTTP/2: checks by PING that the server still responds. Without `interval`, a connection is checked only when a request on it reached a time limit. A silent one gets no further requests meanwhile.',
    {
      interval: f.duration('Interval between checks, at least 1ms. Default: none.'),
      timeout: f.duration('Maximum time for the response, at least 1ms; then the connection is closed.', {
        default: DEFAULTS.http2PingTimeout,
      }),
    },
  ),
  healthChecks: f.list(HealthCheck, 'Active health checks of the hosts; at most one.'),
  outlierDetection: f.of(OutlierDetection, 'Ejects hosts that fail.'),
  failover: f.of(
    Failover,
    'Failover endpoints, which receive the requests that the hosts of the upstream cannot take.',
  ),
  httpProxyHostname: f.text(
    'Server as `host:port`, to which connections are tunnelled with CONNECT; the hosts of the upstream are then HTTP proxies.',
  ),
  httpConnectSslConfig: f.of(UpstreamSslConfig, 'TLS to the HTTP proxies; `sslConfig` is that to the server.'),
  httpConnectHeaders: f.list(
    f.block({ key: f.text('Header name.'), value: f.text('Its value.', f.secret) }),
    'Headers of the CONNECT request.',
  ),
  ignoreHealthOnHostRemoval: f.flag('Removes hosts immediately, even if health checks find them healthy.'),
  respectDnsTtl: f.flag('Resolves names again when their TTL expires instead of at `dnsRefreshRate`.'),
  dnsRefreshRate: f.duration('Interval between DNS lookups, at least 1ms; a shorter one is ignored with a warning.', {
    default: '5s',
  }),
  proxyProtocolVersion: f.enumeration(
    ['V1', 'V2'],
    'Version of the PROXY header that connections begin with; it contains the address of the client. Clients then do not share connections.',
  ),
  preconnectPolicy: f.group('Opens connections ahead of requests.', {
    perUpstreamPreconnectRatio: f.float('Connections to a host for each of its active requests, 1 to 3.', {
      minimum: 1,
      maximum: 3,
      default: 1,
    }),
    predictivePreconnectRatio: f.float(
      'Ratio for the host of the next request. Here the same as `perUpstreamPreconnectRatio`; the larger one is used.',
      { minimum: 1, maximum: 3, default: 1 },
    ),
  }),
  disableIstioAutoMtls: f.flag('Disables automatic mesh TLS, which the gateway never enables.'),
  ...UPSTREAM_TYPES,
});
/** `spec` of an Upstream. */
export interface UpstreamSpec extends f.Static<typeof fields> {}
export const UpstreamSpec = f.named<UpstreamSpec>('UpstreamSpec', fields);
