import {
  block,
  bool,
  duration,
  enumeration,
  int,
  list,
  named,
  notYet,
  of,
  refused,
  text,
  type Static,
} from './field.ts';
import { Upgrade } from './small-options.ts';
import { ListenerTracing } from './listener-tracing.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;
const WINDOW = { minimum: 65535, maximum: 2147483647 } as const;

const headerToAdd = block({
  header: of(block({ key: text('Header name.'), value: text('Its value.') }), 'The header.'),
  append: bool('True adds to the values that are there.', { default: true }),
});

const http2 = block({
  maxConcurrentStreams: int('Streams of one connection at a time.', UINT32),
  initialStreamWindowSize: int('Window of a stream in bytes.', WINDOW),
  initialConnectionWindowSize: int('Window of a connection in bytes.', WINDOW),
  overrideStreamErrorOnInvalidHttpMessage: bool('Closes the stream only, not the connection.', { default: false }),
});

const fields = block(
  {
    skipXffAppend: bool('Does not add the client address to `x-forwarded-for`.', { default: false }),
    via: text('Value added to the header `via`. Unset: none.'),
    xffNumTrustedHops: int('Trusted proxies in front, whose entries in `x-forwarded-for` are believed.', {
      ...UINT32,
      default: 0,
    }),
    useRemoteAddress: bool('The address of the connection is the client; false believes `x-forwarded-for`.', {
      default: true,
    }),
    internalAddressConfig: of(
      block({
        unixSockets: bool('Unix sockets count as internal.', { default: false }),
        cidrRanges: list(
          block({
            addressPrefix: text('First address.'),
            prefixLen: int('Length of the prefix in bits.', { minimum: 0, maximum: 128 }),
          }),
          'Ranges that count as internal.',
        ),
      }),
      'Which addresses are internal.',
      notYet,
    ),
    generateRequestId: bool('Gives requests an `x-request-id`.', { default: true }),
    preserveExternalRequestId: bool('Keeps the `x-request-id` of clients.', { default: false }),
    uuidRequestIdConfig: of(
      block({
        packTraceReason: bool('Keeps the reason of tracing in the id.', { default: true }),
        useRequestIdForTraceSampling: bool('Samples traces by the id.', { default: true }),
      }),
      'How request ids are made.',
      notYet,
    ),
    proxy100Continue: bool('Hands `Expect: 100-continue` on to the upstream.', { default: false, ...notYet }),
    streamIdleTimeout: duration('Longest silence on a stream; `0s` is no limit.', { default: '5m' }),
    idleTimeout: duration('Longest time a connection has no request.', { default: '1h' }),
    maxRequestHeadersKb: int(
      'Largest request head and target in KiB; above it 431 or 414. Default: 16 KiB of head, 8 KiB of target.',
      {
        minimum: 1,
        maximum: 8192,
      },
    ),
    maxHeadersCount: int('Most request headers; above it 431.', { minimum: 1, default: 100 }),
    requestTimeout: duration('Longest time until a request is complete. Default: no limit.'),
    requestHeadersTimeout: duration('Longest time until the head of a request is complete.', { default: '10s' }),
    drainTimeout: duration('Time between announcing the end of a connection and closing it.', {
      default: '5s',
    }),
    delayedCloseTimeout: duration('Time a client has to read a last answer.', { default: '1s' }),
    serverName: text('Value of the response header `server`.', { default: 'envoy' }),
    serverHeaderTransformation: enumeration(
      ['OVERWRITE', 'APPEND_IF_ABSENT', 'PASS_THROUGH'],
      'What happens to the header `server` of the upstream.',
      { default: 'OVERWRITE' },
    ),
    acceptHttp10: bool('Takes HTTP/1.0 requests.', { default: false }),
    defaultHostForHttp10: text('Host of HTTP/1.0 requests that name none.'),
    allowChunkedLength: bool('Takes requests with both content-length and chunks.', { default: false, ...refused }),
    enableTrailers: bool('Hands HTTP/1.1 trailers on.', { default: false, ...notYet }),
    properCaseHeaderKeyFormat: bool('Writes header names as `Content-Type`.', { default: false, ...notYet }),
    preserveCaseHeaderKeyFormat: bool('Keeps the case of header names.', { default: false, ...notYet }),
    stripAnyHostPort: bool('Takes the port off the host before it is compared.', { default: false }),
    tracing: of(ListenerTracing, 'Tracing.', notYet),
    upgrades: list(Upgrade, 'Protocol upgrades; WebSocket is allowed unless it is listed as disabled.'),
    forwardClientCertDetails: enumeration(
      ['SANITIZE', 'FORWARD_ONLY', 'APPEND_FORWARD', 'SANITIZE_SET', 'ALWAYS_FORWARD_ONLY'],
      'What happens to `x-forwarded-client-cert`. APPEND_FORWARD and SANITIZE_SET remove it and add nothing yet.',
      { default: 'SANITIZE' },
    ),
    setCurrentClientCertDetails: of(
      block({
        subject: bool('The subject.', { default: false }),
        cert: bool('The certificate.', { default: false }),
        chain: bool('The chain.', { default: false }),
        dns: bool('The DNS names.', { default: false }),
        uri: bool('The URIs.', { default: false }),
      }),
      'What of a client certificate is handed on; only with APPEND_FORWARD or SANITIZE_SET.',
      notYet,
    ),
    maxConnectionDuration: duration('Longest life of a connection. Default: no limit.'),
    maxStreamDuration: duration('Longest life of a stream. Default: no limit.', notYet),
    maxRequestsPerConnection: int('Requests after which a connection is closed. Default: no limit.', {
      ...UINT32,
    }),
    headersWithUnderscoresAction: enumeration(
      ['ALLOW', 'REJECT_CLIENT_REQUEST', 'DROP_HEADER'],
      'What happens to headers with an underscore in their name.',
      { default: 'ALLOW' },
    ),
    pathWithEscapedSlashesAction: enumeration(
      [
        'IMPLEMENTATION_SPECIFIC_DEFAULT',
        'KEEP_UNCHANGED',
        'REJECT_REQUEST',
        'UNESCAPE_AND_REDIRECT',
        'UNESCAPE_AND_FORWARD',
      ],
      'What happens to `%2f` and `%5c` in a path.',
      { default: 'IMPLEMENTATION_SPECIFIC_DEFAULT' },
    ),
    codecType: enumeration(['AUTO', 'HTTP1', 'HTTP2'], 'HTTP versions spoken.', { default: 'AUTO', ...notYet }),
    mergeSlashes: bool('Makes one slash of several.', { default: false }),
    normalizePath: bool('Resolves dot segments before matching; false refuses them.', { default: true }),
    http2ProtocolOptions: of(http2, 'HTTP/2 limits.', notYet),
    appendXForwardedPort: bool('Tells the upstream the port in `x-forwarded-port`.', { default: false }),
    earlyHeaderManipulation: of(
      block({
        headersToAdd: list(headerToAdd, 'Headers to add, before those to remove.'),
        headersToRemove: list(text(), 'Headers to remove.'),
      }),
      'Changes request headers before routing.',
    ),
  },
  { oneOf: [{ members: ['properCaseHeaderKeyFormat', 'preserveCaseHeaderKeyFormat'] }] },
);
/** How a listener speaks HTTP with clients. */
export interface HttpConnectionManagerSettings extends Static<typeof fields> {}
export const HttpConnectionManagerSettings = named<HttpConnectionManagerSettings>(
  'HttpConnectionManagerSettings',
  fields,
);
