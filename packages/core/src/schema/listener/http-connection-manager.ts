import * as f from '../field.ts';
import { Upgrade } from '../route/small-options.ts';
import { ListenerTracing } from './listener-tracing.ts';

const MIB = 1024 * 1024;
const WINDOW = { minimum: 65535, maximum: 2147483647 } as const;

const headerToAdd = f.block({
  header: f.group('The header.', { key: f.text('Header name.'), value: f.text('Its value.', f.headerValue) }),
  append: f.bool('True appends to existing values.', { default: true }),
});

const http2 = f.block({
  maxConcurrentStreams: f.int('Maximum number of concurrent streams per connection.', {
    minimum: 1,
    maximum: 2147483647,
    default: 1024,
  }),
  initialStreamWindowSize: f.int('Bytes of a body that a client may send ahead, per stream.', {
    ...WINDOW,
    default: 16 * MIB,
  }),
  initialConnectionWindowSize: f.int('Bytes of all bodies that a client may send ahead, per connection.', {
    ...WINDOW,
    default: 24 * MIB,
  }),
  overrideStreamErrorOnInvalidHttpMessage: f.flag(
    'An invalid message closes only its stream. This is always so: the field has no effect.',
  ),
});

const fields = f.block(f.oneOf(['properCaseHeaderKeyFormat', 'preserveCaseHeaderKeyFormat']), {
  skipXffAppend: f.flag('Does not add the client address to `x-forwarded-for`.'),
  via: f.text('Value added to the header `via`. Unset: none.'),
  xffNumTrustedHops: f.uint32('Number of trusted proxies in front, whose entries in `x-forwarded-for` are trusted.', {
    default: 0,
  }),
  useRemoteAddress: f.bool('The client is the address of the connection; false trusts `x-forwarded-for`.', {
    default: true,
  }),
  internalAddressConfig: f.group(
    'Which callers are internal, and may set `x-envoy-*` headers and the `x-request-id`; upstreams see `x-envoy-internal: true`. Default: none.',
    {
      unixSockets: f.flag('Treats Unix sockets as internal.'),
      cidrRanges: f.groups('Internal address ranges.', {
        addressPrefix: f.text('First address, IPv4 or IPv6.'),
        prefixLen: f.int('Length of the prefix in bits.', { minimum: 0, maximum: 128 }),
      }),
    },
  ),
  generateRequestId: f.bool('Adds an `x-request-id` to requests.', { default: true }),
  preserveExternalRequestId: f.flag('Keeps the `x-request-id` of clients.'),
  uuidRequestIdConfig: f.group('How request ids carry trace decisions.', {
    packTraceReason: f.bool('Writes the decision into the request id.', { default: true }),
    useRequestIdForTraceSampling: f.bool('Samples traces by the request id.', { default: true }),
  }),
  proxy100Continue: f.flag(
    'Forwards `Expect: 100-continue` to the upstream, and its interim responses 100, 102 and 103 (`Link` only) to the client. Default: the gateway sends 100 itself.',
  ),
  streamIdleTimeout: f.duration('Idle timeout of a stream; `0s` is no limit.', { default: '5m' }),
  idleTimeout: f.duration('Idle timeout of a connection without requests.', { default: '1h' }),
  maxRequestHeadersKb: f.int(
    'Maximum size of the request head and target in KiB; above it 431 or 414. Default: 16 KiB for the head, 8 KiB for the target.',
    {
      minimum: 1,
      maximum: 8192,
    },
  ),
  maxHeadersCount: f.int('Maximum number of request headers; above it 431.', { minimum: 1, default: 100 }),
  requestTimeout: f.duration('Maximum time until a request is complete. Default: no limit.'),
  requestHeadersTimeout: f.duration('Maximum time until the head of a request is complete.', { default: '10s' }),
  drainTimeout: f.duration('Time between the announcement that a connection will close and its close.', {
    default: '5s',
  }),
  delayedCloseTimeout: f.duration('Time for a client to read the last response.', { default: '1s' }),
  serverName: f.text('Value of the response header `server`.', { default: 'envoy' }),
  serverHeaderTransformation: f.choice(
    ['OVERWRITE', 'APPEND_IF_ABSENT', 'PASS_THROUGH'],
    'How the header `server` of the upstream is handled.',
  ),
  acceptHttp10: f.flag('Accepts HTTP/1.0 requests.'),
  defaultHostForHttp10: f.text('Host for HTTP/1.0 requests without one.'),
  allowChunkedLength: f.flag(
    'Accepts requests with both `content-length` and chunks, which can smuggle another request past the gateway.',
    f.rejected,
  ),
  enableTrailers: f.flag(
    'Forwards trailers of requests, and of responses, to and from upstreams whose `http1ProtocolOptions.enableTrailers` is set. Default: they are dropped.',
  ),
  properCaseHeaderKeyFormat: f.flag('Writes header names of responses in title case, such as `Content-Type`.'),
  preserveCaseHeaderKeyFormat: f.flag(
    'Keeps the case of header names of requests. Names of responses always keep theirs.',
  ),
  stripAnyHostPort: f.flag('Removes the port from the host before matching.'),
  tracing: f.of(ListenerTracing, 'Sends spans of requests to a collector. Default: none.'),
  upgrades: f.list(
    Upgrade,
    'Protocol upgrades of routes without settings of their own. WebSocket is allowed unless it is listed as disabled, CONNECT only if it is listed.',
  ),
  forwardClientCertDetails: f.choice(
    ['SANITIZE', 'FORWARD_ONLY', 'APPEND_FORWARD', 'SANITIZE_SET', 'ALWAYS_FORWARD_ONLY'],
    'How `x-forwarded-client-cert` is handled. It is only sent if the client has a verified certificate, except with ALWAYS_FORWARD_ONLY.',
  ),
  setCurrentClientCertDetails: f.group(
    'Which details of the client certificate are forwarded, besides its hash (`Hash`) and the URIs of the own certificate (`By`); only with APPEND_FORWARD or SANITIZE_SET.',
    {
      subject: f.flag('The subject, as `Subject`.'),
      cert: f.flag('The certificate as PEM, percent-encoded, as `Cert`.'),
      chain: f.flag('The certificates that the client sent, as `Chain`.'),
      dns: f.flag('The DNS names, as `DNS`.'),
      uri: f.flag('The URIs, as `URI`.'),
    },
  ),
  maxConnectionDuration: f.duration(
    'Maximum lifetime of a connection. Then its next response has `connection: close`, or it gets GOAWAY; it closes after the requests in progress, over HTTP/1.1 also after `drainTimeout` without a request. Default: no limit.',
  ),
  maxStreamDuration: f.duration('Maximum duration of a stream, then 408 or 504. Default: no limit.'),
  maxRequestsPerConnection: f.uint32('Requests after which a connection is closed. Default: no limit.'),
  headersWithUnderscoresAction: f.choice(
    ['ALLOW', 'REJECT_CLIENT_REQUEST', 'DROP_HEADER'],
    'How headers with an underscore in their name are handled.',
  ),
  pathWithEscapedSlashesAction: f.choice(
    [
      'IMPLEMENTATION_SPECIFIC_DEFAULT',
      'KEEP_UNCHANGED',
      'REJECT_REQUEST',
      'UNESCAPE_AND_REDIRECT',
      'UNESCAPE_AND_FORWARD',
    ],
    'How `%2f` and `%5c` in a path are handled.',
  ),
  codecType: f.choice(
    ['AUTO', 'HTTP1', 'HTTP2'],
    'Versions of HTTP that clients may speak. AUTO: HTTP/2 if the client chooses it by ALPN, or begins with it, else HTTP/1.1.',
    { default: 'AUTO' },
  ),
  allowAmbiguousRequests: f.flag(
    'Serves requests that an upstream may read differently than the policies: paths such as `/%2Fadmin` and `/;/admin`, and `x_team` beside `x-team`. Default: they are rejected with 400 where `rbac`, `jwt` or `extauth` depend on the path.',
  ),
  mergeSlashes: f.flag('Merges consecutive slashes.'),
  normalizePath: f.bool('Resolves dot segments before matching; false rejects them.', { default: true }),
  http2ProtocolOptions: f.of(http2, 'Limits of HTTP/2 clients.'),
  appendXForwardedPort: f.flag('Sends the port to the upstream in `x-forwarded-port`.'),
  earlyHeaderManipulation: f.group('Changes request headers before routing.', {
    headersToAdd: f.list(headerToAdd, 'Headers to add, before those to remove.'),
    headersToRemove: f.texts('Headers to remove.'),
  }),
});
/** How a listener handles HTTP. */
export interface HttpConnectionManagerSettings extends f.Static<typeof fields> {}
export const HttpConnectionManagerSettings = f.named<HttpConnectionManagerSettings>(
  'HttpConnectionManagerSettings',
  fields,
);
