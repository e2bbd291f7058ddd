import { AccessLoggingService } from './access-log.ts';
import { DlpListener } from '../route/dlp.ts';
import { ExtAuthServer } from '../auth/extauth.ts';
import { ExtProc } from '../route/ext-proc.ts';
import {
  anything,
  block,
  bool,
  duration,
  empty,
  enumeration,
  int,
  list,
  named,
  notYet,
  of,
  ref,
  refused,
  text,
  type Static,
} from '../field.ts';
import { GrpcJsonTranscoder } from './grpc-json-transcoder.ts';
import { HttpConnectionManagerSettings } from './http-connection-manager.ts';
import { RateLimitServer, TokenBucket } from '../route/rate-limit.ts';
import { Buffer, Csrf } from '../route/small-options.ts';
import { UpstreamSslConfig } from './ssl-config.ts';
import { CircuitBreakers } from '../upstream/circuit-breakers.ts';
import { Waf } from '../route/waf.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;

const socketOption = block(
  {
    description: text('Description for users.'),
    level: int('Level of the option, e.g. 6 for TCP.'),
    name: int('Number of the option.'),
    intValue: int('Value as a number.'),
    bufValue: text('Value as base64.'),
    state: enumeration(['STATE_PREBIND', 'STATE_BOUND', 'STATE_LISTENING'], 'When it is set.', {
      default: 'STATE_PREBIND',
    }),
  },
  { oneOf: [{ members: ['intValue', 'bufValue'] }] },
);
const proxyProtocol = block({
  rules: list(
    block({
      tlvType: int('Type of the value.', { minimum: 0, maximum: 255 }),
      onTlvPresent: of(
        block({ key: text('Metadata key.'), metadataNamespace: text('Metadata namespace.') }),
        'Where the value is stored.',
      ),
    }),
    'Values of the PROXY header to store.',
  ),
  allowRequestsWithoutProxyProtocol: bool('Also accepts connections without the header.', { default: false }),
});
const listener = block({
  accessLoggingService: of(AccessLoggingService, 'Access logs for requests.'),
  listenerAccessLoggingService: of(AccessLoggingService, 'Access logs for connections.', notYet),
  extensions: anything('Free-form settings for extensions.', notYet),
  perConnectionBufferLimitBytes: int('Maximum buffered bytes per connection.', {
    ...UINT32,
    default: 1048576,
    ...notYet,
  }),
  socketOptions: list(socketOption, 'Options of the listening socket.', notYet),
  proxyProtocol: of(proxyProtocol, 'Reads the PROXY header of a load balancer.', notYet),
  connectionBalanceConfig: of(
    block({ exactBalance: empty('Balances to the same number of connections per worker.') }),
    'How connections are balanced between workers.',
    notYet,
  ),
  tcpStats: anything('Statistics of the TCP layer.', notYet),
});
/** Options of a listener, `Gateway.spec.options`. */
export interface ListenerOptions extends Static<typeof listener> {}
export const ListenerOptions = named<ListenerOptions>('ListenerOptions', listener);

const gzip = block({
  memoryLevel: int('Memory level, 1 to 9.', { minimum: 1, maximum: 9, default: 5 }),
  contentLength: int('Minimum body size in bytes.', { minimum: 30, default: 30 }),
  compressionLevel: enumeration(['DEFAULT', 'BEST', 'SPEED'], 'Small or fast.', { default: 'DEFAULT' }),
  compressionStrategy: enumeration(['DEFAULT', 'FILTERED', 'HUFFMAN', 'RLE'], 'How matches are looked for.', {
    default: 'DEFAULT',
  }),
  contentType: list(text(), 'Content types to compress. Empty: common text types.'),
  disableOnEtagHeader: bool('Does not compress responses with an etag.', { default: false }),
  removeAcceptEncodingHeader: bool('Does not forward `accept-encoding`.', { default: false }),
  windowBits: int('Window bits, 9 to 15.', { minimum: 9, maximum: 15, default: 12 }),
});
const dnsCache = block(
  {
    dnsLookupFamily: enumeration(['V4_PREFERRED', 'V4_ONLY', 'V6_ONLY', 'AUTO', 'ALL'], 'Address families to look up.'),
    dnsRefreshRate: duration('Interval between lookups.', { default: '60s' }),
    hostTtl: duration('How long an unused host is kept.', { default: '5m' }),
    maxHosts: int('Maximum number of hosts kept.', { minimum: 1, default: 1024 }),
    dnsFailureRefreshRate: of(
      block({
        baseInterval: duration('Base interval.'),
        maxInterval: duration('Maximum interval. Default: ten times the base.'),
      }),
      'Backoff after a failed lookup.',
    ),
    dnsCacheCircuitBreaker: of(
      block({ maxPendingRequests: int('Maximum number of waiting requests.', UINT32) }),
      'Limits.',
    ),
    caresDns: anything('Lookups by c-ares.'),
    appleDns: anything('Lookups by the macOS resolver.'),
    preresolveHostnames: list(anything(), 'Hosts to resolve at startup.'),
    dnsQueryTimeout: duration('Timeout of a lookup.', { default: '5s' }),
  },
  { oneOf: [{ members: ['caresDns', 'appleDns'] }] },
);
const forwardProxy = block({
  dnsCacheConfig: of(dnsCache, 'How names are resolved.'),
  saveUpstreamAddress: bool('Stores the address for the access log.', { default: false }),
  sslConfig: of(UpstreamSslConfig, 'TLS to the hosts.'),
  circuitBreakers: of(CircuitBreakers, 'Circuit breakers for the hosts.'),
});
const tap = block({
  maxBufferedRequestBytes: int('Maximum request bytes to send.', { ...UINT32, default: 1024 }),
  maxBufferedResponseBytes: int('Maximum response bytes to send.', { ...UINT32, default: 1024 }),
  maxBufferedRxBytes: int('Other name of `maxBufferedRequestBytes`.', { ...UINT32, default: 1024 }),
  maxBufferedTxBytes: int('Other name of `maxBufferedResponseBytes`.', { ...UINT32, default: 1024 }),
  sinks: list(
    block(
      {
        grpcService: of(block({ tapServer: ref('Upstream of the server.') }), 'Sends copies over gRPC.'),
        httpService: of(
          block({ tapServer: ref('Upstream of the server.'), timeout: duration('Timeout of a call.') }),
          'Sends copies over HTTP.',
        ),
      },
      { oneOf: [{ members: ['grpcService', 'httpService'] }] },
    ),
    'Receivers of the copies.',
  ),
  recordHeadersReceivedTime: bool('Records when headers were received.', { default: false }),
  recordDownstreamConnection: bool('Records the connection.', { default: false }),
});
const session = block(
  {
    cookieBased: of(
      block({
        cookie: of(
          block(
            { name: text('Cookie name.'), path: text('Path.'), ttl: duration('Lifetime.') },
            { required: ['name', 'ttl'] },
          ),
          'The cookie.',
        ),
      }),
      'Stores the endpoint in a cookie.',
    ),
    headerBased: of(block({ headerName: text('Header name.') }), 'Stores the endpoint in a header.'),
    strict: bool('Returns 503 if the endpoint is gone.', { default: false }),
  },
  { oneOf: [{ members: ['cookieBased', 'headerBased'] }] },
);
const MEASURES = [
  'LAST_INCOMING_FIRST_OUTGOING',
  'FIRST_INCOMING_FIRST_OUTGOING',
  'LAST_INCOMING_LAST_OUTGOING',
  'FIRST_INCOMING_LAST_OUTGOING',
] as const;
const latency = block({
  request: enumeration(MEASURES, 'What to measure for downstream.', { default: 'LAST_INCOMING_FIRST_OUTGOING' }),
  response: enumeration(MEASURES, 'What to measure for upstream.', { default: 'LAST_INCOMING_FIRST_OUTGOING' }),
  measureRequestInternally: bool('Measures only within the filter chain.', { default: false }),
  chargeClusterStat: bool('Counts for the cluster.', { default: true }),
  chargeListenerStat: bool('Counts for the listener.', { default: true }),
  emitDynamicMetadata: bool('Stores it for the access log.', { default: true }),
});
const limit = block({
  maxActiveConnections: int('Maximum number of connections.', { minimum: 1 }),
  delayBeforeClose: duration('Delay before a connection above the limit is closed.', { default: '0s', ...notYet }),
});
/** Limits the number of connections. */
export interface ConnectionLimit extends Static<typeof limit> {}
export const ConnectionLimit = named<ConnectionLimit>('ConnectionLimit', limit);

const http = block({
  httpConnectionManagerSettings: of(HttpConnectionManagerSettings, 'How the listener handles HTTP.'),
  healthCheck: of(block({ path: text('Exact path.') }), 'Returns 200 for this path, or 503 while draining.', notYet),
  grpcWeb: of(block({ disable: bool('Disables it.', { default: false }) }), 'Translation of gRPC-Web.', notYet),
  gzip: of(gzip, 'Compresses responses.', notYet),
  buffer: of(Buffer, 'Buffers requests until their body is complete.', notYet),
  csrf: of(Csrf, 'Rejects mutating requests from other origins.', refused),
  dynamicForwardProxy: of(forwardProxy, 'Allows routes to hosts named by the request.', notYet),
  connectionLimit: of(ConnectionLimit, 'Limits the number of connections.'),
  networkLocalRatelimit: of(TokenBucket, 'Limits new connections.', refused),
  httpLocalRatelimit: of(
    block({
      defaultLimit: of(TokenBucket, 'Default limit for routes without their own.'),
      localRateLimitPerDownstreamConnection: bool('A bucket for each connection.', { default: false }),
      enableXRatelimitHeaders: bool('Adds `x-ratelimit-*` to responses.', { default: false }),
    }),
    'Limits requests in this proxy instance.',
    refused,
  ),
  router: of(
    block({
      suppressEnvoyHeaders: bool('Does not add `x-envoy-*` headers.', { default: false }),
      dynamicStats: bool('Collects statistics of the router.', { default: true, ...notYet }),
    }),
    'The router, the last filter of the chain.',
  ),
  headerValidationSettings: of(
    block({ disableHttp1MethodValidation: empty('Accepts unknown methods.') }),
    'Header validation.',
  ),
  grpcJsonTranscoder: of(GrpcJsonTranscoder, 'Translates between JSON and gRPC.', notYet),
  extauth: of(ExtAuthServer, 'External auth settings here, instead of those in the Settings.'),
  ratelimitServer: of(RateLimitServer, 'The rate limit server here, instead of that in the Settings.', refused),
  waf: of(Waf, 'Web application firewall.', refused),
  dlp: of(DlpListener, 'Masks sensitive values.', refused),
  caching: of(
    block({
      cachingServiceRef: ref('Upstream of the cache.'),
      allowedVaryHeaders: list(anything(), 'Headers allowed in `vary`.'),
      timeout: duration('Timeout of the cache.'),
      maxPayloadSize: int('Maximum body size in bytes; 0 caches nothing.', UINT32),
    }),
    'Deprecated; caches responses.',
    notYet,
  ),
  wasm: anything('WebAssembly filters.', notYet),
  proxyLatency: of(latency, 'Measures the time spent in the proxy.', notYet),
  sanitizeClusterHeader: bool('Removes the cluster header of a route from client requests.', {
    default: false,
    ...refused,
  }),
  leftmostXffAddress: bool('Takes the first address of `x-forwarded-for` as the client.', {
    default: false,
    ...notYet,
  }),
  disableExtProc: bool('Disables external processing.', { default: false, ...notYet }),
  disableExtProcEarly: bool('Disables early external processing.', { default: false, ...notYet }),
  disableExtProcLate: bool('Disables late external processing.', { default: false, ...notYet }),
  extProc: of(ExtProc, 'External processing.', notYet),
  extProcEarly: of(ExtProc, 'Early external processing.', notYet),
  extProcLate: of(ExtProc, 'Late external processing.', notYet),
  tap: of(tap, 'Sends copies of messages to a server.', notYet),
  statefulSession: of(session, 'Session affinity to one endpoint.', notYet),
});
/** HTTP options of a listener, `httpGateway.options`. */
export interface HttpListenerOptions extends Static<typeof http> {}
export const HttpListenerOptions = named<HttpListenerOptions>('HttpListenerOptions', http);

const tcp = block({
  tcpProxySettings: of(
    block({
      maxConnectAttempts: int('Maximum number of connection attempts.', { minimum: 1, default: 1 }),
      idleTimeout: duration('Idle timeout of a connection.', { default: '1h' }),
      tunnelingConfig: of(
        block({
          hostname: text('Host of the CONNECT request.'),
          headersToAdd: list(
            block({
              header: of(block({ key: text('Header name.'), value: text('Its value.') }), 'The header.'),
              append: bool('Appends to existing values.', { default: true }),
            }),
            'Headers of the CONNECT request.',
          ),
        }),
        'Sends TCP through an HTTP CONNECT tunnel.',
      ),
      accessLogFlushInterval: duration('Interval between log entries of an open connection.'),
    }),
    'How TCP is proxied.',
  ),
  connectionLimit: of(ConnectionLimit, 'Limits the number of connections.'),
  localRatelimit: of(TokenBucket, 'Limits new connections.', refused),
});
/** TCP options of a listener, `tcpGateway.options`. */
export interface TcpListenerOptions extends Static<typeof tcp> {}
export const TcpListenerOptions = named<TcpListenerOptions>('TcpListenerOptions', tcp);

const routeConfig = block({
  maxDirectResponseBodySizeBytes: int('Maximum body size of a direct response in bytes.', {
    ...UINT32,
    default: 4096,
  }),
  mostSpecificHeaderMutationsWins: bool('Applies header changes of the route after those of the virtual host.', {
    default: false,
  }),
});
/** Options of all routes of a listener, `Gateway.spec.routeOptions`. */
export interface RouteConfigOptions extends Static<typeof routeConfig> {}
export const RouteConfigOptions = named<RouteConfigOptions>('RouteConfigOptions', routeConfig);
