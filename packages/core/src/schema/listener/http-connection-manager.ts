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
} from '../field.ts';
import { Upgrade } from '../route/small-options.ts';
import { ListenerTracing } from './listener-tracing.ts';

const UINT32 = { minimum: 0, maximum: 4294967295 } as const;
const WINDOW = { minimum: 65535, maximum: 2147483647 } as const;

const headerToAdd = block({
  header: of(block({ key: text('Header name.'), value: text('Its value.') }), 'The header.'),
  append: bool('True appends to existing values.', { default: true }),
});

const http2 = block({
  maxConcurrentStreams: int('Maximum number of concurrent streams per connection.', UINT32),
  initialStreamWindowSize: int('Window size of a stream in bytes.', WINDOW),
  initialConnectionWindowSize: int('Window size of a connection in bytes.', WINDOW),
  overrideStreamErrorOnInvalidHttpMessage: bool('Closes only the stream after an error, not the connection.', {
    default: false,
  }),
});

const fields = block(
  {
    skipXffAppend: bool('Does not add the client address to `x-forwarded-for`.', { default: false }),
    via: text('Value added to the header `via`. Unset: none.'),
    xffNumTrustedHops: int('Number of trusted proxies in front, whose entries in `x-forwarded-for` are trusted.', {
      ...UINT32,
      default: 0,
    }),
    useRemoteAddress: bool('The client is the address of the connection; false trusts `x-forwarded-for`.', {
      default: true,
    }),
    internalAddressConfig: of(
      block({
        unixSockets: bool('Treats Unix sockets as internal.', { default: false }),
        cidrRanges: list(
          block({
            addressPrefix: text('First address.'),
            prefixLen: int('Length of the prefix in bits.', { minimum: 0, maximum: 128 }),
          }),
          'Internal address ranges.',
        ),
      }),
      'Which addresses are internal.',
      notYet,
    ),
    generateRequestId: bool('Adds an `x-request-id` to requests.', { default: true }),
    preserveExternalRequestId: bool('Keeps the `x-request-id` of clients.', { default: false }),
    uuidRequestIdConfig: of(
      block({
        packTraceReason: bool('Stores the trace reason in the id.', { default: true }),
        useRequestIdForTraceSampling: bool('Samples traces by the request id.', { default: true }),
      }),
      'How request ids are generated.',
      notYet,
    ),
    proxy100Continue: bool('Forwards `Expect: 100-continue` to the upstream.', { default: false, ...notYet }),
    streamIdleTimeout: duration('Idle timeout of a stream; `0s` is no limit.', { default: '5m' }),
    idleTimeout: duration('Idle timeout of a connection without requests.', { default: '1h' }),
    maxRequestHeadersKb: int(
      'Maximum size of the request head and target in KiB; above it 431 or 414. Default: 16 KiB for the head, 8 KiB for the target.',
      {
        minimum: 1,
        maximum: 8192,
      },
    ),
    maxHeadersCount: int('Maximum number of request headers; above it 431.', { minimum: 1, default: 100 }),
    requestTimeout: duration('Maximum time until a request is complete. Default: no limit.'),
    requestHeadersTimeout: duration('Maximum time until the head of a request is complete.', { default: '10s' }),
    drainTimeout: duration('Time between the announcement that a connection will close and its close.', {
      default: '5s',
    }),
    delayedCloseTimeout: duration('Time for a client to read the last response.', { default: '1s' }),
    serverName: text('Value of the response header `server`.', { default: 'envoy' }),
    serverHeaderTransformation: enumeration(
      ['OVERWRITE', 'APPEND_IF_ABSENT', 'PASS_THROUGH'],
      'How the header `server` of the upstream is handled.',
      { default: 'OVERWRITE' },
    ),
    acceptHttp10: bool('Accepts HTTP/1.0 requests.', { default: false }),
    defaultHostForHttp10: text('Host for HTTP/1.0 requests without one.'),
    allowChunkedLength: bool('Accepts requests with both `content-length` and chunks.', { default: false, ...refused }),
    enableTrailers: bool('Forwards HTTP/1.1 trailers.', { default: false, ...notYet }),
    properCaseHeaderKeyFormat: bool('Writes header names in title case, such as `Content-Type`.', {
      default: false,
      ...notYet,
    }),
    preserveCaseHeaderKeyFormat: bool('Keeps the case of header names.', { default: false, ...notYet }),
    stripAnyHostPort: bool('Removes the port from the host before matching.', { default: false }),
    tracing: of(ListenerTracing, 'Tracing.', notYet),
    upgrades: list(Upgrade, 'Protocol upgrades; WebSocket is allowed unless it is listed as disabled.'),
    forwardClientCertDetails: enumeration(
      ['SANITIZE', 'FORWARD_ONLY', 'APPEND_FORWARD', 'SANITIZE_SET', 'ALWAYS_FORWARD_ONLY'],
      'How `x-forwarded-client-cert` is handled. APPEND_FORWARD and SANITIZE_SET remove it and add nothing yet.',
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
      'Which details of the client certificate are forwarded; only with APPEND_FORWARD or SANITIZE_SET.',
      notYet,
    ),
    maxConnectionDuration: duration('Maximum lifetime of a connection. Default: no limit.'),
    maxStreamDuration: duration('Maximum lifetime of a stream. Default: no limit.', notYet),
    maxRequestsPerConnection: int('Requests after which a connection is closed. Default: no limit.', {
      ...UINT32,
    }),
    headersWithUnderscoresAction: enumeration(
      ['ALLOW', 'REJECT_CLIENT_REQUEST', 'DROP_HEADER'],
      'How headers with an underscore in their name are handled.',
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
      'How `%2f` and `%5c` in a path are handled.',
      { default: 'IMPLEMENTATION_SPECIFIC_DEFAULT' },
    ),
    codecType: enumeration(['AUTO', 'HTTP1', 'HTTP2'], 'HTTP versions spoken.', { default: 'AUTO', ...notYet }),
    mergeSlashes: bool('Merges consecutive slashes.', { default: false }),
    normalizePath: bool('Resolves dot segments before matching; false rejects them.', { default: true }),
    http2ProtocolOptions: of(http2, 'HTTP/2 limits.', notYet),
    appendXForwardedPort: bool('Sends the port to the upstream in `x-forwarded-port`.', { default: false }),
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
/** How a listener handles HTTP. */
export interface HttpConnectionManagerSettings extends Static<typeof fields> {}
export const HttpConnectionManagerSettings = named<HttpConnectionManagerSettings>(
  'HttpConnectionManagerSettings',
  fields,
);
