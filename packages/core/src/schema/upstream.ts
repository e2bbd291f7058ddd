import { CircuitBreakers } from './circuit-breakers.ts';
import { DEFAULTS } from './defaults.ts';
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
} from './field.ts';
import { HealthCheck, OutlierDetection } from './health.ts';
import { LoadBalancerConfig } from './load-balancer.ts';
import { UpstreamSslConfig } from './ssl-config.ts';
import { Failover, UPSTREAM_TYPES } from './upstream-types.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;
const WINDOW = { minimum: 65535, maximum: 2147483647 } as const;

const connection = block({
  maxRequestsPerConnection: int('Requests after which a connection is closed. 0: no limit.', { ...UINT32, default: 0 }),
  connectTimeout: duration('Longest time to connect.', { default: DEFAULTS.connectTimeout }),
  tcpKeepalive: of(
    block({
      keepaliveProbes: int('Probes without an answer until a connection is dead.', UINT32),
      keepaliveTime: duration('Silence before the first probe; rounded up to seconds.'),
      keepaliveInterval: duration('Time between probes; rounded up to seconds.'),
    }),
    'Keeps connections alive by probes.',
    notYet,
  ),
  perConnectionBufferLimitBytes: int('Bytes held per connection.', { ...UINT32, default: 1048576, ...notYet }),
  commonHttpProtocolOptions: of(
    block({
      idleTimeout: duration('Longest time a connection has no request.', { default: '1h' }),
      maxHeadersCount: int('Most response headers.', { minimum: 1, default: 100, ...notYet }),
      maxStreamDuration: duration('Longest life of a stream. Default: no limit.', notYet),
      headersWithUnderscoresAction: enumeration(
        ['ALLOW', 'REJECT_CLIENT_REQUEST', 'DROP_HEADER'],
        'What happens to headers with an underscore in their name.',
        { default: 'ALLOW', ...notYet },
      ),
    }),
    'What all HTTP versions have.',
  ),
  http1ProtocolOptions: of(
    block(
      {
        enableTrailers: bool('Hands trailers on.', { default: false }),
        properCaseHeaderKeyFormat: bool('Writes header names as `Content-Type`.', { default: false }),
        preserveCaseHeaderKeyFormat: bool('Keeps the case of header names.', { default: false }),
        overrideStreamErrorOnInvalidHttpMessage: bool('Closes the stream only, not the connection.', {
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
    discoveryMetadata: of(block({ labels: map(text(), 'Labels of what was found.') }), 'Written by discovery.'),
    sslConfig: of(UpstreamSslConfig, 'TLS towards the endpoints.'),
    circuitBreakers: of(CircuitBreakers, 'Limits. Default, by field: Settings `gw.circuitBreakers`.'),
    loadBalancerConfig: of(LoadBalancerConfig, 'How an endpoint is chosen.'),
    connectionConfig: of(ConnectionConfig, 'Connections.'),
    protocolSelection: enumeration(
      ['USE_CONFIGURED_PROTOCOL', 'USE_DOWNSTREAM_PROTOCOL'],
      'Whether the HTTP version of the client is used.',
      { default: 'USE_CONFIGURED_PROTOCOL', ...notYet },
    ),
    useHttp2: bool('Speaks HTTP/2. Default: true for gRPC services, else false.', { default: false, ...notYet }),
    initialStreamWindowSize: int('HTTP/2: window of a stream in bytes.', { ...WINDOW, ...notYet }),
    initialConnectionWindowSize: int('HTTP/2: window of a connection in bytes.', { ...WINDOW, ...notYet }),
    maxConcurrentStreams: int('HTTP/2: streams of one connection at a time.', { ...UINT32, ...notYet }),
    overrideStreamErrorOnInvalidHttpMessage: bool('HTTP/2: closes the stream only, not the connection.', {
      default: false,
      ...notYet,
    }),
    healthChecks: list(HealthCheck, 'Asks endpoints how they are.', notYet),
    outlierDetection: of(OutlierDetection, 'Ejects endpoints that answer badly.', notYet),
    failover: of(Failover, 'Other endpoints for when these fail.', notYet),
    httpProxyHostname: text('HTTP proxy that connections are tunnelled through, `host:port`.', notYet),
    httpConnectSslConfig: of(UpstreamSslConfig, 'TLS towards the HTTP proxy.', notYet),
    httpConnectHeaders: list(
      block({ key: text('Header name.'), value: text('Its value.') }),
      'Headers of the CONNECT request.',
      notYet,
    ),
    ignoreHealthOnHostRemoval: bool('Removes endpoints at once, healthy or not.', { default: false, ...notYet }),
    respectDnsTtl: bool('Looks names up again when their TTL ends.', { default: false, ...notYet }),
    dnsRefreshRate: duration('Time between look-ups of names, at least 1ms.', notYet),
    proxyProtocolVersion: enumeration(['V1', 'V2'], 'Sends a PROXY header of this version.', notYet),
    preconnectPolicy: of(
      block({
        perUpstreamPreconnectRatio: float('Connections per request, 1 to 3.', { minimum: 1, maximum: 3 }),
        predictivePreconnectRatio: float('Connections ahead of the next requests, 1 to 3.', { minimum: 1, maximum: 3 }),
      }),
      'Connects ahead of requests.',
      notYet,
    ),
    disableIstioAutoMtls: bool('Does not speak mesh TLS on its own.', { default: false, ...notYet }),
    ...UPSTREAM_TYPES,
  },
  { oneOf: [{ members: Object.keys(UPSTREAM_TYPES) }] },
);
/** `spec` of an Upstream. */
export interface UpstreamSpec extends Static<typeof fields> {}
export const UpstreamSpec = named<UpstreamSpec>('UpstreamSpec', fields);
