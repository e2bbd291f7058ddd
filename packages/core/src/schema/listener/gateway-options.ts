import { AccessLoggingService } from './access-log.ts';
import { DlpListener } from '../route/dlp.ts';
import { ExtAuthServer } from '../auth/extauth.ts';
import { ExtProc } from '../route/ext-proc.ts';
import { DEFAULTS } from '../defaults.ts';
import * as f from '../field.ts';
import { GrpcJsonTranscoder } from './grpc-json-transcoder.ts';
import { HttpConnectionManagerSettings } from './http-connection-manager.ts';
import { RATE_LIMIT_SUPPORT, RateLimitServer, TokenBucket } from '../route/rate-limit.ts';
import { Buffer, Csrf } from '../route/small-options.ts';
import { UpstreamSslConfig } from './ssl-config.ts';
import { CircuitBreakers } from '../upstream/circuit-breakers.ts';
import { Waf } from '../route/waf.ts';

const socketOption = f.block(f.oneOf(['intValue', 'bufValue']), {
  description: f.text('Description for users.'),
  level: f.int64('Level of the option, e.g. 6 for TCP.'),
  name: f.int64('Number of the option.'),
  intValue: f.int64('Value as a number.'),
  bufValue: f.text('Value as base64: has no effect, with a warning, except in Envoy.'),
  state: f.choice(
    ['STATE_PREBIND', 'STATE_BOUND', 'STATE_LISTENING'],
    'When Envoy sets it. The proxies of this gateway set it on each connection that they accept, whatever the state.',
  ),
});
const proxyProtocol = f.block({
  rules: f.groups('Fields of a header of version 2 to store as dynamic metadata.', f.required('onTlvPresent'), {
    tlvType: f.int('Type of the field, e.g. 2 for the authority. Default: 0.', { minimum: 0, maximum: 255 }),
    onTlvPresent: f.group('Where the field is stored, as text without control characters.', f.required('key'), {
      key: f.text('Metadata key.'),
      metadataNamespace: f.text('Metadata namespace.', { default: 'envoy.filters.listener.proxy_protocol' }),
    }),
  }),
  allowRequestsWithoutProxyProtocol: f.flag(
    'Also accepts connections without the header: whoever can reach the listener can then choose to send one or not.',
  ),
});
const listener = f.block({
  accessLoggingService: f.of(AccessLoggingService, 'Access logs for requests.'),
  listenerAccessLoggingService: f.of(
    AccessLoggingService,
    'Access logs for connections: one entry for each, when it closes.',
  ),
  extensions: f.anything('Free-form settings for concerns of your own, where no more specific level has any.'),
  perConnectionBufferLimitBytes: f.uint32(
    'Maximum size of a request body that is kept for retries, in bytes: a request with a larger one is not retried. Also of bodies that transformations read, where 0 is no limit.',
    { default: 1048576 },
  ),
  socketOptions: f.list(
    socketOption,
    'Socket options of client connections, identified by the numbers of Linux (level/name): `SO_KEEPALIVE` 1/9, `TCP_NODELAY` 6/1 (on unless set to 0), `TCP_KEEPIDLE` 6/4 and `TCP_KEEPINTVL` 6/5 in seconds, `TCP_KEEPCNT` 6/6, `IP_TOS` 0/1 and `IPV6_TCLASS` 41/67. `SO_REUSEADDR` 1/2 is always on. Others have no effect, with a warning, because Node cannot set them.',
  ),
  proxyProtocol: f.of(
    proxyProtocol,
    'Requires the PROXY header (version 1 or 2) of a load balancer at the start of each connection; its client address is used as that of the connection.',
  ),
  connectionBalanceConfig: f.group(
    'Balancing of connections between workers: not supported, because the kernel balances them.',
    f.unsupported,
    {
      exactBalance: f.empty('Balances to the same number of connections per worker.'),
    },
  ),
  tcpStats: f.anything('TCP statistics: not supported, because Node does not expose them.', f.unsupported),
});
/** Options of a listener, `Gateway.spec.options`. */
export interface ListenerOptions extends f.Static<typeof listener> {}
export const ListenerOptions = f.named<ListenerOptions>('ListenerOptions', listener);

const gzipFields = f.block({
  memoryLevel: f.int('Memory level, 1 to 9.', { minimum: 1, maximum: 9, default: 5 }),
  contentLength: f.int('Minimum body size in bytes.', { minimum: 30, default: 30 }),
  compressionLevel: f.choice(['DEFAULT', 'BEST', 'SPEED'], 'Small or fast.'),
  compressionStrategy: f.choice(['DEFAULT', 'FILTERED', 'HUFFMAN', 'RLE'], 'How matches are looked for.'),
  contentType: f.texts('Content types to compress. Empty: common text types.'),
  disableOnEtagHeader: f.flag('Does not compress responses with an etag.'),
  removeAcceptEncodingHeader: f.flag('Does not forward `accept-encoding`.'),
  windowBits: f.int('Window bits, 9 to 15.', { minimum: 9, maximum: 15, default: 12 }),
  encodings: f.list(
    f.enumeration(['gzip', 'br', 'zstd']),
    'Encodings to use; of those with the same weight in `accept-encoding`, the first. Empty: gzip, br, zstd.',
    f.addition,
  ),
});
/** Compresses responses. */
export interface Gzip extends f.Static<typeof gzipFields> {}
export const Gzip = f.named<Gzip>('Gzip', gzipFields);
const dnsCache = f.block(f.oneOf(['caresDns', 'appleDns']), {
  dnsLookupFamily: f.enumeration(['V4_PREFERRED', 'V4_ONLY', 'V6_ONLY', 'AUTO', 'ALL'], 'Address families to look up.'),
  dnsRefreshRate: f.duration('Interval between lookups.', { default: '60s' }),
  hostTtl: f.duration('How long an unused host is kept.', { default: '5m' }),
  maxHosts: f.int('Maximum number of hosts kept; requests to further ones get 503.', { minimum: 1, default: 1024 }),
  dnsFailureRefreshRate: f.group('Backoff after a failed lookup.', {
    baseInterval: f.duration('Base interval. Default: `dnsRefreshRate`.'),
    maxInterval: f.duration('Maximum interval. Default: ten times the base.'),
  }),
  dnsCacheCircuitBreaker: f.group('Limits.', {
    maxPendingRequests: f.uint32('Maximum number of requests that wait for lookups.', { default: 1024 }),
  }),
  caresDns: f.group('Lookups by c-ares; always used.', {
    resolvers: f.groups('DNS servers. Default: those of the machine.', {
      socketAddress: f.group('Address of the server.', {
        address: f.text('IP address.'),
        portValue: f.port('Port.', { default: 53 }),
      }),
    }),
    useResolversAsFallback: f.flag(
      'Uses `resolvers` only if the machine has no DNS servers, read at the start and when the block changes.',
    ),
    filterUnroutableFamilies: f.flag('Ignores IPv4 or IPv6 addresses while no network interface has such an address.'),
    dnsResolverOptions: f.anything(
      'Options of the resolver: lookups use UDP first and the search domains of the machine.',
      f.unsupported,
    ),
  }),
  appleDns: f.anything('Lookups by the macOS resolver.', f.unsupported),
  preresolveHostnames: f.groups('Hosts to resolve at startup.', {
    address: f.text('Host.'),
    portValue: f.port('Port. Default: 443 with `sslConfig`, else 80.'),
  }),
  dnsQueryTimeout: f.duration('Timeout of a lookup.', { default: '5s' }),
});
const forwardProxy = f.block({
  dnsCacheConfig: f.of(dnsCache, 'How names are resolved.'),
  saveUpstreamAddress: f.flag('Has no effect: the access log always contains the address, as `%UPSTREAM_HOST%`.'),
  sslConfig: f.of(UpstreamSslConfig, 'TLS to the hosts.'),
  circuitBreakers: f.of(CircuitBreakers, 'Circuit breakers for each of the hosts.'),
  allowedAddresses: f.texts(
    'Addition of this gateway: CIDR ranges that are allowed although they are not public, such as `10.0.0.0/8`. Default: only public addresses.',
  ),
});
const tap = f.block({
  maxBufferedRequestBytes: f.uint32('Maximum request bytes to send.', { default: 1024 }),
  maxBufferedResponseBytes: f.uint32('Maximum response bytes to send.', { default: 1024 }),
  maxBufferedRxBytes: f.uint32('Other name of `maxBufferedRequestBytes`.', { default: 1024 }),
  maxBufferedTxBytes: f.uint32('Other name of `maxBufferedResponseBytes`.', { default: 1024 }),
  sinks: f.groups('Receivers of the copies.', f.exclusive, {
    grpcService: f.group('Sends copies over gRPC.', { tapServer: f.ref('Upstream of the server.') }),
    httpService: f.group('Sends copies over HTTP.', {
      tapServer: f.ref('Upstream of the server.'),
      timeout: f.duration('Timeout of a call.'),
    }),
  }),
  recordHeadersReceivedTime: f.flag('Records when headers were received.'),
  recordDownstreamConnection: f.flag('Records the connection.'),
});
const session = f.block(f.oneOf(['cookieBased', 'headerBased']), {
  cookieBased: f.group('Stores the host in a cookie, as `address:port` in Base64.', {
    cookie: f.group('The cookie.', f.required('name', 'ttl'), {
      name: f.text('Cookie name.'),
      path: f.text('Path of the cookie; requests outside of it have no session. Default: every path.'),
      ttl: f.duration('Lifetime. 0s: until the browser is closed.'),
    }),
  }),
  headerBased: f.group('Stores the host in a response header, which the client must send back.', {
    headerName: f.text('Header name.'),
  }),
  strict: f.flag('Returns 503 if the host is gone or not healthy. Default: another one is chosen.'),
});
const MEASURES = [
  'LAST_INCOMING_FIRST_OUTGOING',
  'FIRST_INCOMING_FIRST_OUTGOING',
  'LAST_INCOMING_LAST_OUTGOING',
  'FIRST_INCOMING_LAST_OUTGOING',
] as const;
const latency = f.block({
  request: f.choice(MEASURES, 'What to measure for downstream.'),
  response: f.choice(MEASURES, 'What to measure for upstream.'),
  measureRequestInternally: f.flag('Measures only within the filter chain.'),
  chargeClusterStat: f.bool('Counts for the cluster.', { default: true }),
  chargeListenerStat: f.bool('Counts for the listener.', { default: true }),
  emitDynamicMetadata: f.bool('Stores it for the access log.', { default: true }),
});
const limit = f.block({
  maxActiveConnections: f.int64('Maximum number of connections.', { minimum: 1 }),
  delayBeforeClose: f.duration('Delay before a connection above the limit is closed; up to 1000 connections wait.', {
    default: '0s',
  }),
});
/** Limits the number of connections. */
export interface ConnectionLimit extends f.Static<typeof limit> {}
export const ConnectionLimit = f.named<ConnectionLimit>('ConnectionLimit', limit);

const http = f.block({
  httpConnectionManagerSettings: f.of(HttpConnectionManagerSettings, 'How the listener handles HTTP.'),
  healthCheck: f.group(
    'Responds with 200 to requests for one path, before routes and their policies, and with 503 while the proxy is draining or `/healthcheck/fail` of the proxy admin was called.',
    { path: f.text('Exact path, with its query.') },
  ),
  grpcWeb: f.group('Translation of gRPC-Web requests to gRPC. Default: as in `gw.disableGrpcWeb` of the Settings.', {
    disable: f.flag('Disables it.'),
  }),
  gzip: f.of(Gzip, 'Compresses responses.'),
  buffer: f.of(Buffer, 'Buffers requests until their body is complete.'),
  csrf: f.of(Csrf, 'Rejects mutating requests from other origins, where no more specific block does.'),
  dynamicForwardProxy: f.of(forwardProxy, 'Allows routes to hosts named by the request.'),
  connectionLimit: f.of(ConnectionLimit, 'Limits the number of connections.'),
  networkLocalRatelimit: f.of(
    TokenBucket,
    'Limits new connections; those over the limit are closed.',
    RATE_LIMIT_SUPPORT.local,
  ),
  httpLocalRatelimit: f.group('Limits requests in this proxy instance.', RATE_LIMIT_SUPPORT.local, {
    defaultLimit: f.of(TokenBucket, 'Default limit for routes without their own.'),
    localRateLimitPerDownstreamConnection: f.flag('A bucket for each connection.'),
    enableXRatelimitHeaders: f.flag('Adds `x-ratelimit-*` to responses.'),
  }),
  router: f.group('The router, the last filter of the chain.', {
    suppressEnvoyHeaders: f.flag('Does not add `x-envoy-*` headers.'),
    dynamicStats: f.bool('Counts responses of upstreams by status, their time, and virtual clusters.', {
      default: true,
    }),
  }),
  headerValidationSettings: f.group('Header validation.', {
    disableHttp1MethodValidation: f.empty('Accepts unknown methods.'),
  }),
  grpcJsonTranscoder: f.of(
    GrpcJsonTranscoder,
    'Translates JSON over HTTP to gRPC, for upstreams without a transcoder of their own.',
  ),
  extauth: f.of(ExtAuthServer, 'External auth settings here, instead of those in the Settings.'),
  ratelimitServer: f.of(RateLimitServer, 'As in the Settings, and instead of it here.', RATE_LIMIT_SUPPORT.global),
  waf: f.of(Waf, 'Web application firewall.', f.rejected),
  dlp: f.of(DlpListener, 'Masks sensitive values.'),
  caching: f.group('Deprecated; caches responses.', f.unsupported, {
    cachingServiceRef: f.ref('Upstream of the cache.'),
    allowedVaryHeaders: f.list(f.anything(), 'Headers allowed in `vary`.'),
    timeout: f.duration('Timeout of the cache.'),
    maxPayloadSize: f.uint32('Maximum body size in bytes; 0 caches nothing.'),
  }),
  wasm: f.anything('WebAssembly filters.', f.unsupported),
  proxyLatency: f.of(
    latency,
    'Measures the time spent in the proxy, between points in time that are not documented. The access log has the times of a request.',
    f.unsupported,
  ),
  sanitizeClusterHeader: f.flag('Removes the `clusterHeader` of a route from client requests.'),
  leftmostXffAddress: f.flag(
    'Takes the first address of `x-forwarded-for` as the client, which any client can choose: only behind a proxy that replaces the header.',
  ),
  disableExtProc: f.flag('Disables external processing.'),
  disableExtProcEarly: f.flag('Disables early external processing.'),
  disableExtProcLate: f.flag('Disables late external processing.'),
  extProc: f.of(ExtProc, 'External processing.'),
  extProcEarly: f.of(ExtProc, 'Early external processing.'),
  extProcLate: f.of(ExtProc, 'Late external processing.'),
  tap: f.of(tap, 'Sends copies of messages to a server.', f.unsupported),
  statefulSession: f.of(session, 'Session affinity to one host.'),
});
/** HTTP options of a listener, `httpGateway.options`. */
export interface HttpListenerOptions extends f.Static<typeof http> {}
export const HttpListenerOptions = f.named<HttpListenerOptions>('HttpListenerOptions', http);

const tcp = f.block({
  tcpProxySettings: f.group('How TCP is proxied.', {
    maxConnectAttempts: f.int('Maximum number of attempts to connect to a host of the upstream.', {
      minimum: 1,
      maximum: 100,
      default: 1,
    }),
    idleTimeout: f.duration('Maximum time without data in either direction; 0s is no limit.', {
      default: DEFAULTS.tcpIdleTimeout,
    }),
    tunnelingConfig: f.group('Sends TCP through an HTTP CONNECT tunnel.', {
      hostname: f.text('Host and port of the CONNECT request.'),
      headersToAdd: f.groups('Headers of the CONNECT request.', {
        header: f.group('The header.', {
          key: f.text('Header name.'),
          value: f.text('Its value.', f.headerValue),
        }),
        append: f.bool('Appends to existing headers with the same name instead of replacing them.', { default: true }),
      }),
    }),
    accessLogFlushInterval: f.duration(
      'Interval between log entries for an open connection, besides the one when it closes.',
    ),
  }),
  connectionLimit: f.of(ConnectionLimit, 'Limits the number of connections.'),
  localRatelimit: f.of(
    TokenBucket,
    'Limits new connections; those over the limit are closed.',
    RATE_LIMIT_SUPPORT.local,
  ),
});
/** TCP options of a listener, `tcpGateway.options`. */
export interface TcpListenerOptions extends f.Static<typeof tcp> {}
export const TcpListenerOptions = f.named<TcpListenerOptions>('TcpListenerOptions', tcp);

const routeConfig = f.block({
  maxDirectResponseBodySizeBytes: f.uint32('Maximum body size of a direct response in bytes.', {
    default: DEFAULTS.directBodyBytes,
  }),
  ignorePortInHostMatching: f.flag(
    'Compares the host of a request with domains without its port; unlike with `stripAnyHostPort`, upstreams still see the port.',
  ),
  mostSpecificHeaderMutationsWins: f.flag('Applies header changes of the route after those of the virtual host.'),
});
/** Options of all routes of a listener, `Gateway.spec.routeOptions`. */
export interface RouteConfigOptions extends f.Static<typeof routeConfig> {}
export const RouteConfigOptions = f.named<RouteConfigOptions>('RouteConfigOptions', routeConfig);
