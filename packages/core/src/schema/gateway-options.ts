import { AccessLoggingService } from './access-log.ts';
import { DlpListener } from './dlp.ts';
import { ExtAuthServer } from './extauth.ts';
import { ExtProc } from './ext-proc.ts';
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
} from './field.ts';
import { GrpcJsonTranscoder } from './grpc-json-transcoder.ts';
import { HttpConnectionManagerSettings } from './http-connection-manager.ts';
import { RateLimitServer, TokenBucket } from './rate-limit.ts';
import { Buffer, Csrf } from './small-options.ts';
import { UpstreamSslConfig } from './ssl-config.ts';
import { CircuitBreakers } from './circuit-breakers.ts';
import { Waf } from './waf.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;

const socketOption = block(
  {
    description: text('For people.'),
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
        'Where it is kept.',
      ),
    }),
    'Values of the PROXY header that are kept.',
  ),
  allowRequestsWithoutProxyProtocol: bool('Takes connections without the header as well.', { default: false }),
});
const listener = block({
  accessLoggingService: of(AccessLoggingService, 'Where requests are logged.'),
  listenerAccessLoggingService: of(AccessLoggingService, 'Where connections are logged.', notYet),
  extensions: anything('Free-form settings for extensions.', notYet),
  perConnectionBufferLimitBytes: int('Bytes held per connection.', { ...UINT32, default: 1048576, ...notYet }),
  socketOptions: list(socketOption, 'Options of the listening socket.', notYet),
  proxyProtocol: of(proxyProtocol, 'Reads the PROXY header of a load balancer.', notYet),
  connectionBalanceConfig: of(
    block({ exactBalance: empty('Every worker gets the same number of connections.') }),
    'How connections are shared among workers.',
    notYet,
  ),
  tcpStats: anything('Statistics of the TCP layer.', notYet),
});
/** Options of a listener, `Gateway.spec.options`. */
export interface ListenerOptions extends Static<typeof listener> {}
export const ListenerOptions = named<ListenerOptions>('ListenerOptions', listener);

const gzip = block({
  memoryLevel: int('Memory used, 1 to 9.', { minimum: 1, maximum: 9, default: 5 }),
  contentLength: int('Smallest body in bytes.', { minimum: 30, default: 30 }),
  compressionLevel: enumeration(['DEFAULT', 'BEST', 'SPEED'], 'Small or fast.', { default: 'DEFAULT' }),
  compressionStrategy: enumeration(['DEFAULT', 'FILTERED', 'HUFFMAN', 'RLE'], 'How matches are looked for.', {
    default: 'DEFAULT',
  }),
  contentType: list(text(), 'Content types that are compressed. Empty: the usual text types.'),
  disableOnEtagHeader: bool('Leaves responses with an etag alone.', { default: false }),
  removeAcceptEncodingHeader: bool('Does not hand `accept-encoding` on.', { default: false }),
  windowBits: int('Size of the window, 9 to 15.', { minimum: 9, maximum: 15, default: 12 }),
});
const dnsCache = block(
  {
    dnsLookupFamily: enumeration(['V4_PREFERRED', 'V4_ONLY', 'V6_ONLY', 'AUTO', 'ALL'], 'Addresses asked for.'),
    dnsRefreshRate: duration('Time between look-ups.', { default: '60s' }),
    hostTtl: duration('Time an unused host is kept.', { default: '5m' }),
    maxHosts: int('Most hosts kept.', { minimum: 1, default: 1024 }),
    dnsFailureRefreshRate: of(
      block({
        baseInterval: duration('First wait.'),
        maxInterval: duration('Longest wait. Default: ten times the base.'),
      }),
      'Wait after a failed look-up.',
    ),
    dnsCacheCircuitBreaker: of(block({ maxPendingRequests: int('Most requests that wait.', UINT32) }), 'Limits.'),
    caresDns: anything('Look-ups by c-ares.'),
    appleDns: anything('Look-ups by the system of a Mac.'),
    preresolveHostnames: list(anything(), 'Hosts looked up ahead.'),
    dnsQueryTimeout: duration('Longest time for a look-up.', { default: '5s' }),
  },
  { oneOf: [{ members: ['caresDns', 'appleDns'] }] },
);
const forwardProxy = block({
  dnsCacheConfig: of(dnsCache, 'How names are looked up.'),
  saveUpstreamAddress: bool('Keeps the address for the access log.', { default: false }),
  sslConfig: of(UpstreamSslConfig, 'TLS towards the hosts.'),
  circuitBreakers: of(CircuitBreakers, 'Limits towards the hosts.'),
});
const tap = block({
  maxBufferedRequestBytes: int('Bytes of a request that are sent.', { ...UINT32, default: 1024 }),
  maxBufferedResponseBytes: int('Bytes of a response that are sent.', { ...UINT32, default: 1024 }),
  maxBufferedRxBytes: int('Other name of `maxBufferedRequestBytes`.', { ...UINT32, default: 1024 }),
  maxBufferedTxBytes: int('Other name of `maxBufferedResponseBytes`.', { ...UINT32, default: 1024 }),
  sinks: list(
    block(
      {
        grpcService: of(block({ tapServer: ref('Upstream of the server.') }), 'Sends copies over gRPC.'),
        httpService: of(
          block({ tapServer: ref('Upstream of the server.'), timeout: duration('Longest time for a call.') }),
          'Sends copies over HTTP.',
        ),
      },
      { oneOf: [{ members: ['grpcService', 'httpService'] }] },
    ),
    'Who gets the copies.',
  ),
  recordHeadersReceivedTime: bool('Notes when headers came.', { default: false }),
  recordDownstreamConnection: bool('Notes the connection.', { default: false }),
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
      'Keeps the endpoint in a cookie.',
    ),
    headerBased: of(block({ headerName: text('Header name.') }), 'Keeps the endpoint in a header.'),
    strict: bool('Answers 503 when the endpoint is gone.', { default: false }),
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
  request: enumeration(MEASURES, 'What is measured on the way in.', { default: 'LAST_INCOMING_FIRST_OUTGOING' }),
  response: enumeration(MEASURES, 'What is measured on the way out.', { default: 'LAST_INCOMING_FIRST_OUTGOING' }),
  measureRequestInternally: bool('Measures within the chain only.', { default: false }),
  chargeClusterStat: bool('Counts for the cluster.', { default: true }),
  chargeListenerStat: bool('Counts for the listener.', { default: true }),
  emitDynamicMetadata: bool('Keeps it for the access log.', { default: true }),
});
const limit = block({
  maxActiveConnections: int('Most connections at a time.', { minimum: 1 }),
  delayBeforeClose: duration('Wait before one too many is closed.', { default: '0s', ...notYet }),
});
/** Limits the number of connections. */
export interface ConnectionLimit extends Static<typeof limit> {}
export const ConnectionLimit = named<ConnectionLimit>('ConnectionLimit', limit);

const http = block({
  httpConnectionManagerSettings: of(HttpConnectionManagerSettings, 'How HTTP is spoken with clients.'),
  healthCheck: of(block({ path: text('Exact path.') }), 'Answers this path with 200, or 503 while draining.', notYet),
  grpcWeb: of(block({ disable: bool('Switches it off.', { default: false }) }), 'Translation of gRPC-Web.', notYet),
  gzip: of(gzip, 'Compresses responses.', notYet),
  buffer: of(Buffer, 'Holds requests back until their body is complete.', notYet),
  csrf: of(Csrf, 'Refuses changing requests from foreign origins.', refused),
  dynamicForwardProxy: of(forwardProxy, 'Lets routes go to hosts named by requests.', notYet),
  connectionLimit: of(ConnectionLimit, 'Limits the number of connections.'),
  networkLocalRatelimit: of(TokenBucket, 'Limits new connections.', refused),
  httpLocalRatelimit: of(
    block({
      defaultLimit: of(TokenBucket, 'Limit of everything that has none of its own.'),
      localRateLimitPerDownstreamConnection: bool('A bucket for each connection.', { default: false }),
      enableXRatelimitHeaders: bool('Adds `x-ratelimit-*` to responses.', { default: false }),
    }),
    'Limits requests in this proxy instance.',
    refused,
  ),
  router: of(
    block({
      suppressEnvoyHeaders: bool('Adds no `x-envoy-*` headers.', { default: false }),
      dynamicStats: bool('Keeps statistics of the router.', { default: true, ...notYet }),
    }),
    'The last step of the chain.',
  ),
  headerValidationSettings: of(
    block({ disableHttp1MethodValidation: empty('Takes unknown methods.') }),
    'What is checked in a request head.',
  ),
  grpcJsonTranscoder: of(GrpcJsonTranscoder, 'Translates between JSON and gRPC.', notYet),
  extauth: of(ExtAuthServer, 'How external auth behaves here, in place of the Settings.'),
  ratelimitServer: of(RateLimitServer, 'The rate limit server, in place of the Settings.', refused),
  waf: of(Waf, 'Web application firewall.', refused),
  dlp: of(DlpListener, 'Masks sensitive values.', refused),
  caching: of(
    block({
      cachingServiceRef: ref('Upstream of the cache.'),
      allowedVaryHeaders: list(anything(), 'Headers that `vary` may name.'),
      timeout: duration('Longest time for the cache.'),
      maxPayloadSize: int('Largest body in bytes; 0 keeps none.', UINT32),
    }),
    'Deprecated; keeps responses in a cache.',
    notYet,
  ),
  wasm: anything('WebAssembly filters.', notYet),
  proxyLatency: of(latency, 'Measures the time spent in the proxy.', notYet),
  sanitizeClusterHeader: bool('Removes the header of a cluster-header route from client requests.', {
    default: false,
    ...refused,
  }),
  leftmostXffAddress: bool('The first address of `x-forwarded-for` is the client.', { default: false, ...notYet }),
  disableExtProc: bool('Switches external processing off.', { default: false, ...notYet }),
  disableExtProcEarly: bool('Switches early external processing off.', { default: false, ...notYet }),
  disableExtProcLate: bool('Switches late external processing off.', { default: false, ...notYet }),
  extProc: of(ExtProc, 'External processing.', notYet),
  extProcEarly: of(ExtProc, 'Early external processing.', notYet),
  extProcLate: of(ExtProc, 'Late external processing.', notYet),
  tap: of(tap, 'Sends copies of messages to a server.', notYet),
  statefulSession: of(session, 'Keeps clients at one endpoint.', notYet),
});
/** HTTP options of a listener, `httpGateway.options`. */
export interface HttpListenerOptions extends Static<typeof http> {}
export const HttpListenerOptions = named<HttpListenerOptions>('HttpListenerOptions', http);

const tcp = block({
  tcpProxySettings: of(
    block({
      maxConnectAttempts: int('Attempts to connect.', { minimum: 1, default: 1 }),
      idleTimeout: duration('Longest silence on a connection.', { default: '1h' }),
      tunnelingConfig: of(
        block({
          hostname: text('Host of the CONNECT request.'),
          headersToAdd: list(
            block({
              header: of(block({ key: text('Header name.'), value: text('Its value.') }), 'The header.'),
              append: bool('Adds to the values that are there.', { default: true }),
            }),
            'Headers of the CONNECT request.',
          ),
        }),
        'Sends TCP through an HTTP CONNECT tunnel.',
      ),
      accessLogFlushInterval: duration('Time between log entries of an open connection.'),
    }),
    'How TCP is handed on.',
  ),
  connectionLimit: of(ConnectionLimit, 'Limits the number of connections.'),
  localRatelimit: of(TokenBucket, 'Limits new connections.', refused),
});
/** TCP options of a listener, `tcpGateway.options`. */
export interface TcpListenerOptions extends Static<typeof tcp> {}
export const TcpListenerOptions = named<TcpListenerOptions>('TcpListenerOptions', tcp);

const routeConfig = block({
  maxDirectResponseBodySizeBytes: int('Largest body of a direct response in bytes.', {
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
