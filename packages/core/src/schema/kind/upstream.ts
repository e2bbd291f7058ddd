import { CircuitBreakers } from '../upstream/circuit-breakers.ts';
import { DEFAULTS } from '../defaults.ts';
import {
  block,
  bool,
  duration,
  enumeration,
  float,
  int,
  list,
  map,
  named,
  notYet,
  of,
  text,
  type Static,
} from '../field.ts';
import { HealthCheck, OutlierDetection } from '../upstream/health.ts';
import { LoadBalancerConfig } from '../upstream/load-balancer.ts';
import { UpstreamSslConfig } from '../listener/ssl-config.ts';
import { Failover, UPSTREAM_TYPES } from '../upstream/upstream-types.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;
const WINDOW = { minimum: 65535, maximum: 2147483647 } as const;

const connection = block({
  maxRequestsPerConnection: int('Requests after which a connection is closed. 0: no limit.', { ...UINT32, default: 0 }),
  connectTimeout: duration('Timeout of connecting.', { default: DEFAULTS.connectTimeout }),
  tcpKeepalive: of(
    block({
      keepaliveProbes: int('Unanswered probes until a connection counts as dead.', UINT32),
      keepaliveTime: duration('Idle time before the first probe; rounded up to seconds.'),
      keepaliveInterval: duration('Interval between probes; rounded up to seconds.'),
    }),
    'TCP keepalive.',
    notYet,
  ),
  perConnectionBufferLimitBytes: int('Maximum buffered bytes per connection.', {
    ...UINT32,
    default: 1048576,
    ...notYet,
  }),
  commonHttpProtocolOptions: of(
    block({
      idleTimeout: duration('Idle timeout of a connection without requests.', { default: '1h' }),
      maxHeadersCount: int('Maximum number of response headers.', { minimum: 1, default: 100, ...notYet }),
      maxStreamDuration: duration('Maximum lifetime of a stream. Default: no limit.', notYet),
      headersWithUnderscoresAction: enumeration(
        ['ALLOW', 'REJECT_CLIENT_REQUEST', 'DROP_HEADER'],
        'How headers with an underscore in their name are handled.',
        { default: 'ALLOW', ...notYet },
      ),
    }),
    'Options of all HTTP versions.',
  ),
  http1ProtocolOptions: of(
    block(
      {
        enableTrailers: bool('Forwards trailers.', { default: false }),
        properCaseHeaderKeyFormat: bool('Writes header names in title case, such as `Content-Type`.', {
          default: false,
        }),
        preserveCaseHeaderKeyFormat: bool('Keeps the case of header names.', { default: false }),
        overrideStreamErrorOnInvalidHttpMessage: bool('Closes only the stream after an error, not the connection.', {
          default: false,
        }),
      },
      { oneOf: [{ members: ['properCaseHeaderKeyFormat', 'preserveCaseHeaderKeyFormat'] }] },
    ),
    'HTTP/1.1.',
    notYet,
  ),
});
/** Connections to an upstream. */
export interface ConnectionConfig extends Static<typeof connection> {}
export const ConnectionConfig = named<ConnectionConfig>('ConnectionConfig', connection);

const fields = block(
  {
    discoveryMetadata: of(block({ labels: map(text(), 'Labels of the discovered service.') }), 'Written by discovery.'),
    sslConfig: of(UpstreamSslConfig, 'TLS to the endpoints.'),
    circuitBreakers: of(CircuitBreakers, 'Circuit breakers. Default, by field: Settings `gw.circuitBreakers`.'),
    loadBalancerConfig: of(LoadBalancerConfig, 'The load balancing algorithm.'),
    connectionConfig: of(ConnectionConfig, 'Connections.'),
    protocolSelection: enumeration(
      ['USE_CONFIGURED_PROTOCOL', 'USE_DOWNSTREAM_PROTOCOL'],
      'Whether to use the HTTP version of the client.',
      { default: 'USE_CONFIGURED_PROTOCOL', ...notYet },
    ),
    useHttp2: bool('Uses HTTP/2. Default: true for gRPC services, else false.', { default: false, ...notYet }),
    initialStreamWindowSize: int('HTTP/2: window size of a stream in bytes.', { ...WINDOW, ...notYet }),
    initialConnectionWindowSize: int('HTTP/2: window size of a connection in bytes.', { ...WINDOW, ...notYet }),
    maxConcurrentStreams: int('HTTP/2: maximum number of concurrent streams per connection.', { ...UINT32, ...notYet }),
    overrideStreamErrorOnInvalidHttpMessage: bool(
      'HTTP/2: closes only the stream after an error, not the connection.',
      {
        default: false,
        ...notYet,
      },
    ),
    healthChecks: list(HealthCheck, 'Active health checks of the endpoints.', notYet),
    outlierDetection: of(OutlierDetection, 'Ejects endpoints that fail.', notYet),
    failover: of(Failover, 'Failover endpoints.', notYet),
    httpProxyHostname: text('HTTP proxy that tunnels connections, `host:port`.', notYet),
    httpConnectSslConfig: of(UpstreamSslConfig, 'TLS to the HTTP proxy.', notYet),
    httpConnectHeaders: list(
      block({ key: text('Header name.'), value: text('Its value.') }),
      'Headers of the CONNECT request.',
      notYet,
    ),
    ignoreHealthOnHostRemoval: bool('Removes endpoints immediately, even if healthy.', { default: false, ...notYet }),
    respectDnsTtl: bool('Resolves names again when their TTL expires.', { default: false, ...notYet }),
    dnsRefreshRate: duration('Interval between DNS lookups, at least 1ms.', notYet),
    proxyProtocolVersion: enumeration(['V1', 'V2'], 'Sends a PROXY header of this version.', notYet),
    preconnectPolicy: of(
      block({
        perUpstreamPreconnectRatio: float('Preconnect ratio per endpoint, 1 to 3.', { minimum: 1, maximum: 3 }),
        predictivePreconnectRatio: float('Predictive preconnect ratio, 1 to 3.', { minimum: 1, maximum: 3 }),
      }),
      'Opens connections ahead of requests.',
      notYet,
    ),
    disableIstioAutoMtls: bool('Does not enable mesh TLS automatically.', { default: false, ...notYet }),
    ...UPSTREAM_TYPES,
  },
  { oneOf: [{ members: Object.keys(UPSTREAM_TYPES) }] },
);
/** `spec` of an Upstream. */
export interface UpstreamSpec extends Static<typeof fields> {}
export const UpstreamSpec = named<UpstreamSpec>('UpstreamSpec', fields);
