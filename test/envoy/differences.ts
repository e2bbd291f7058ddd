import type { Differing } from './observe.ts';

/** A difference between our data plane and Envoy that stays. */
export interface Difference {
  /** Heading on the page. */
  readonly topic: string;
  /** What the gateway does. */
  readonly gateway: string;
  /** What Envoy does. */
  readonly envoy: string;
  readonly reason: string;
  /** The scenarios that show it, with the fields and the values of both. */
  readonly scenarios: Readonly<Record<string, Differing>>;
  /** Set if the difference only exists over HTTP/1.1: at this side, or at both sides. */
  readonly onlyHttp1?: Side | 'both';
  /** Scenarios that differ if these sides use HTTP/2, or differ in something else than over HTTP/1.1. */
  readonly http2?: Readonly<Partial<Record<Side | 'both', Readonly<Record<string, Differing>>>>>;
  /** Scenarios that differ in something else over TLS. */
  readonly tls?: Readonly<Record<string, Differing>>;
}

/** A connection of the gateway, to a client or to an upstream. */
type Side = 'client' | 'upstream';

/** The same difference in several scenarios. */
const inAll = (names: readonly string[], differing: Differing): Record<string, Differing> =>
  Object.fromEntries(names.map((name) => [name, differing]));

export const DIFFERENCES: readonly Difference[] = [
  {
    topic: 'Responses of the gateway itself',
    gateway:
      'Errors of the gateway are a page for browsers; JSON with a `code` and the request id for errors that Envoy does not have, and in place of an empty body if `Accept` prefers JSON. Texts of Envoy such as `RBAC: access denied` are sent unchanged unless [`gw.jsonErrors`](error-pages.md#json-instead-of-texts) is set. `Vary` lists the headers that decide.',
    envoy: 'A short text, or no body.',
    reason:
      'The code is stable and documented, and the id leads to the log. The test compares only the status of these responses.',
    scenarios: {
      'everything: has no virtual host': {
        'response vary': ['accept, sec-fetch-mode, x-requested-with', '-'],
        'response connection': ['keep-alive', '-'],
        'response keep-alive': ['timeout=3600', '-'],
        'response x-request-id': ['(uuid)', '-'],
      },
      'everything: rejects an invalid request': {
        'response content-type': ['application/json', '-'],
        'response vary': ['accept, sec-fetch-mode, x-requested-with', '-'],
        'response x-request-id': ['(uuid)', '-'],
        'response body': [
          '{"code":"ERR_ROUTING_BAD_HOST","message":"the request must have exactly one Host header, with a host name and an optional port","requestId":"(uuid)"}',
          '-',
        ],
        'response server': ['-', 'envoy'],
      },
    },
    http2: { client: { 'everything: rejects an invalid request': {} } },
  },
  {
    topic: 'Responses of the gateway itself',
    gateway: 'Errors of the gateway have the `x-request-id`.',
    envoy: 'They have none.',
    reason: 'The id leads to the log.',
    scenarios: {},
  },
  {
    topic: 'Responses of the gateway itself',
    gateway:
      'A 429 response of a rate limit includes `retry-after` unless [`retryAfter: false`](rate-limits.md#responses) is set.',
    envoy: 'It has none.',
    reason: 'RFC 6585 §4: clients know when to try again.',
    scenarios: {},
  },
  {
    topic: 'Responses of the gateway itself',
    gateway: 'Responses of the gateway to HEAD have the `content-length` of GET.',
    envoy: '`transfer-encoding: chunked`.',
    reason: 'RFC 9110 allows both; the length is information for the client.',
    scenarios: {
      'methods: does not match HEAD for GET': {
        'response content-length': ['0', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
      'redirect with headers: of HEAD': {
        'response content-length': ['0', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
      'unmatched: path of HEAD gives 404': {
        'response content-length': ['0', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
    },
    onlyHttp1: 'client',
  },
  {
    topic: 'Responses of the gateway itself',
    gateway: 'Direct responses with 201 or 3xx have only the `location` that the route adds.',
    envoy: 'Their `location` is the URL of the request.',
    reason: 'The URL of the request is not a useful target.',
    scenarios: {
      'direct response: with 201': { 'response location': ['-', 'http://$host/201'] },
      'direct response: with 304': { 'response location': ['-', 'http://$host/304'] },
    },
  },
  {
    topic: 'Responses of the gateway itself',
    gateway: "The reason phrase of an unknown status is `unknown`, and that of 418 is `I'm a Teapot`.",
    envoy: '`Unknown`.',
    reason: 'Reason phrases have no meaning (RFC 9110 §15.1).',
    scenarios: {
      'abort: of HEAD': { response: ["418 I'm a Teapot", '418 Unknown'] },
      'access log of faults: that abort': { response: ["418 I'm a Teapot", '418 Unknown'] },
      'abort: of a POST': { response: ["418 I'm a Teapot", '418 Unknown'] },
      'abort: of a direct response': { response: ["418 I'm a Teapot", '418 Unknown'] },
      'abort: of every request': { response: ["418 I'm a Teapot", '418 Unknown'] },
      'delay: and abort': { response: ["418 I'm a Teapot", '418 Unknown'] },
      'direct response: with an unknown status and UTF-8': { response: ['299 unknown', '299 Unknown'] },
      'response body: with an unknown status': { response: ['299 unknown', '299 Unknown'] },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway: '`OPTIONS *` results in 204 with `Allow`.',
    envoy: '404.',
    reason: 'RFC 9110 §9.3.7: the request is about the server itself.',
    scenarios: { 'absolute target: of OPTIONS with a star': { response: ['204 No Content', '404 Not Found'] } },
    http2: { client: { 'HTTP/2 pseudo-headers: with a star and OPTIONS': { response: ['204', '404'] } } },
  },
  {
    topic: 'Requests that are rejected',
    gateway:
      'A host that is empty, doubled, contains a user, or differs from `:authority` or an absolute target results in 400.',
    envoy: '404, or the route of one of the hosts.',
    reason: 'An ambiguous or invalid request can be read differently by the gateway and the upstream.',
    scenarios: {
      'absolute target: with another host': { response: ['400 Bad Request', '404 Not Found'] },
      'head: with a user in Host': { response: ['400 Bad Request', '404 Not Found'] },
      'head: with an empty Host': { response: ['400 Bad Request', '404 Not Found'] },
      'head: with two Hosts': { response: ['400 Bad Request', '404 Not Found'] },
      'head: with two equal Hosts': { response: ['400 Bad Request', '404 Not Found'] },
    },
    http2: {
      client: {
        'head: with a user in Host': {},
        'head: with an empty Host': {},
        'HTTP/2 authority: other than host': { response: ['400', '200'], requests: ['0', '1'] },
      },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway: 'A bare LF, a bare CR, and folded header lines result in 400.',
    envoy: 'Accepted, or replaced by spaces.',
    reason: 'An ambiguous or invalid request can be read differently by the gateway and the upstream.',
    scenarios: {
      'head: with a bare CR in a value': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
      'head: with a folded line': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
      'head: with bare LF': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway:
      'A chunk that is longer than its size, and framing, routing and identity headers in trailers, result in 400.',
    envoy: 'Accepted.',
    reason: 'An ambiguous or invalid request can be read differently by the gateway and the upstream.',
    scenarios: {
      'framing: chunk longer than its size': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
      'framing: trailer of framing': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
    },
    http2: {
      client: {
        'HTTP/2 body: with a length in trailers': { response: ['400', '200'], requests: ['0', '1'] },
        'HTTP/2 body: with a host in trailers': { response: ['400', '200'], requests: ['0', '1'] },
        'HTTP/2 body: with an authorization in trailers': { response: ['400', '200'], requests: ['0', '1'] },
        'HTTP/2 body: with x-forwarded-for in trailers': { response: ['400', '200'], requests: ['0', '1'] },
      },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway: 'Doubled, invalid or ambiguous `Transfer-Encoding` results in 400; 501 only for an unknown encoding.',
    envoy: '501.',
    reason: 'The end of the body is unknown, whatever the encoding.',
    scenarios: {
      'framing: Transfer-Encoding: ,chunked': { response: ['400 Bad Request', '501 Not Implemented'] },
      'framing: Transfer-Encoding: gzip, chunked': { response: ['400 Bad Request', '501 Not Implemented'] },
      'framing: Transfer-Encoding: identity': { response: ['400 Bad Request', '501 Not Implemented'] },
      'framing: Transfer-Encoding: identity, chunked': { response: ['400 Bad Request', '501 Not Implemented'] },
      'framing: two Transfer-Encoding': { response: ['400 Bad Request', '501 Not Implemented'] },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway: '`Transfer-Encoding` in HTTP/1.0, and HTTP/0.9, result in 400; other versions of HTTP result in 505.',
    envoy: '426.',
    reason: 'RFC 9112 §6.1, RFC 9110 §15.6.6. HTTP/1.0 itself results in 426 in both.',
    scenarios: {
      'framing: TE on HTTP/1.0': { response: ['400 Bad Request', '426 Upgrade Required'] },
      'head: of HTTP/0.9': { response: ['400 Bad Request', '426 Upgrade Required'] },
      'head: of HTTP/1.2': { response: ['505 HTTP Version Not Supported', '426 Upgrade Required'] },
      'head: of HTTP/2.0 in text': { response: ['505 HTTP Version Not Supported', '426 Upgrade Required'] },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway: 'Two `Content-Type` or `Authorization` headers result in 400.',
    envoy: 'Forwarded.',
    reason: 'Servers differ in which of them they use.',
    scenarios: {
      'request headers: with two authorizations': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
      'request headers: with two content types': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
    },
    http2: { client: { 'HTTP/2 headers: two authorizations': { response: ['400', '200'], requests: ['0', '1'] } } },
  },
  {
    topic: 'Requests that are rejected',
    gateway: 'An unknown `Expect` results in 417.',
    envoy: 'Forwarded.',
    reason: 'RFC 9110 §10.1.1.',
    scenarios: {
      'framing: Expect of something else': { response: ['417 Expectation Failed', '200 OK'], requests: ['0', '1'] },
    },
    http2: { client: { 'HTTP/2 headers: an unknown expectation': { response: ['417', '200'], requests: ['0', '1'] } } },
  },
  {
    topic: 'Requests that are rejected',
    gateway:
      'TRACE, CONNECT and unregistered methods such as PURGE result in 405; methods that HTTP/1.1 rejects result in 400 over HTTP/2, too.',
    envoy: 'TRACE and PURGE are forwarded, over HTTP/2 any method; CONNECT results in 404 without a route for it.',
    reason: 'TRACE reflects credentials; few servers expect the others.',
    scenarios: {
      'head: of CONNECT': { response: ['405 Method Not Allowed', '404 Not Found'] },
      'head: of TRACE': { response: ['405 Method Not Allowed', '200 OK'], requests: ['0', '1'] },
      'head: with an unknown method': { response: ['405 Method Not Allowed', '200 OK'], requests: ['0', '1'] },
    },
    http2: {
      client: {
        'head: with a custom method': { response: ['400', '200'], requests: ['0', '1'] },
        'head: with a lower-case method': { response: ['400', '200'], requests: ['0', '1'] },
        'HTTP/2 pseudo-headers: of TRACE': { response: ['405', '200'], requests: ['0', '1'] },
      },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway: 'A target above 8 KiB results in 414, a head above 16 KiB 431.',
    envoy: 'The limit is 60 KiB for the whole head.',
    reason:
      'Smaller limits cost attackers more; [`maxRequestHeadersKb`](reference/resources/gateway.md) sets another one.',
    scenarios: {
      'head: larger than 16 KiB': { response: ['431 Request Header Fields Too Large', '200 OK'], requests: ['0', '1'] },
      'head: with a long target': { response: ['414 URI Too Long', '200 OK'], requests: ['0', '1'] },
    },
    http2: {
      client: {
        'HTTP/2 header list: of 20 KiB': { response: ['431', '200'], requests: ['0', '1'] },
        'HTTP/2 header list: with one large value': { response: ['431', '200'], requests: ['0', '1'] },
        'HTTP/2 header list: with a path of 9 kB': { response: ['414', '200'], requests: ['0', '1'] },
      },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway: 'A WebSocket handshake with an invalid key results in 400.',
    envoy: 'Forwarded.',
    reason: 'The upstream would reject it.',
    scenarios: { 'upgrade: with a bad key': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] } },
  },
  {
    topic: 'Requests that are rejected',
    gateway:
      'After a request is rejected for its path or the size of its body, the connection stays open if the request has arrived completely.',
    envoy: 'It is closed.',
    reason: 'The end of the request is known.',
    scenarios: {
      'buffer: rejects a larger body in chunks': { closed: ['false', 'true'], 'response connection': ['-', 'close'] },
      'escaped slashes, REJECT_REQUEST: and backslashes in the path': { closed: ['false', 'true'] },
      'escaped slashes, REJECT_REQUEST: in the path': { closed: ['false', 'true'] },
      'path: with a fragment': { closed: ['false', 'true'] },
      'path: with an escaped NUL': { closed: ['false', 'true'] },
    },
  },
  {
    topic: 'Requests that are rejected',
    gateway: 'After the timeout of an idle stream, the connection is closed.',
    envoy: 'It stays open if the response is complete.',
    reason: 'The upload may still be in progress.',
    scenarios: { 'streamIdleTimeout: before the head': { closed: ['true', 'false'] } },
  },
  {
    topic: 'Requests over HTTP/2',
    gateway: 'An invalid request resets its stream.',
    envoy: 'The connection is closed, unless `overrideStreamErrorOnInvalidHttpMessage` is set.',
    reason: 'Other requests of the connection are not affected.',
    scenarios: {},
    http2: {
      client: {
        'HTTP/2 body: with a hexadecimal length': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with a negative length': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: without method': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: without scheme': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: without path': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with an empty path': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with an empty method': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with a path without a slash': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with an absolute path': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with a star and GET': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with a line break in the path': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with NUL in the path': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with a space in the method': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with a line break in the method': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with an unknown one': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with one of responses': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with two paths': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with two methods': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with two authorities': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: behind a header': { response: ['reset 1', 'closed '] },
        'HTTP/2 pseudo-headers: with a protocol but without CONNECT': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: te: gzip': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: te: trailers, gzip': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: connection: close': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: connection that names a header': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: keep-alive': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: proxy-connection': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: upgrade': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: upgrade to h2c': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: transfer-encoding': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: transfer-encoding: identity': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a name with capitals': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: an empty name': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a name with a space': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a name with a colon': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a name with a line break': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a name with a byte above 0x7f': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a value with CR LF': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a value with LF': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a value with CR': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a value with NUL': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a value with a control character': { response: ['reset 1', 'closed '] },
        'HTTP/2 headers: a value with DEL': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: that is missing': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with two equal lengths': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with two lengths': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with a signed length': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with a list of lengths': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with an empty length': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with a length that overflows': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with a pseudo-header in trailers': { response: ['reset 1', 'closed '] },
        'HTTP/2 body: with transfer-encoding in trailers': { response: ['reset 1', 'closed '] },
      },
    },
  },
  {
    topic: 'Requests over HTTP/2',
    gateway: 'A host that is missing, doubled or invalid, and a path with a space, result in 400.',
    envoy: 'The connection is closed.',
    reason: 'The client learns the cause, as over HTTP/1.1.',
    scenarios: {},
    http2: {
      client: {
        ...inAll(
          [
            'everything: rejects an invalid request',
            'head: with a path in Host',
            'head: with a space in Host',
            'head: with a user in Host',
            'head: with an empty Host',
            'head: without Host',
            'HTTP/2 authority: with two hosts',
            'HTTP/2 authority: with a user',
            'HTTP/2 authority: with a path',
            'HTTP/2 authority: that is empty',
            'HTTP/2 authority: that is missing',
            'HTTP/2 pseudo-headers: with a space in the path',
          ],
          { response: ['400', 'closed '] },
        ),
      },
    },
  },
  {
    topic: 'Requests over HTTP/2',
    gateway: 'Too many headers result in 431, and a name with an underscore that is rejected results in 400.',
    envoy: 'The stream is reset.',
    reason: 'The client learns the cause, as over HTTP/1.1.',
    scenarios: {},
    http2: {
      client: {
        'access log of rejections: of too many headers': { response: ['431', 'reset 2'] },
        'head: with more than 100 headers': { response: ['431', 'reset 2'] },
        'underscores: are rejected': { response: ['400', 'reset 2'] },
        'HTTP/2 header list: of 150 headers': { response: ['431', 'reset 2'] },
        'HTTP/2 maxRequestHeadersKb: above the limit': { response: ['431', 'reset 2'] },
      },
    },
  },
  {
    topic: 'Requests over HTTP/2',
    gateway: 'Headers far above the limits reset the stream with `ENHANCE_YOUR_CALM`.',
    envoy: 'With `INTERNAL_ERROR`; a value above 64 KiB closes the connection.',
    reason: 'The client is the cause, and other requests of the connection are not affected.',
    scenarios: {},
    http2: {
      client: {
        'head: larger than 60 KiB': { response: ['reset 11', 'closed 9'] },
        'HTTP/2 header list: of 70 KiB': { response: ['reset 11', 'reset 2'] },
        'HTTP/2 header list: of 1,000 headers': { response: ['reset 11', 'reset 2'] },
      },
    },
  },
  {
    topic: 'Requests over HTTP/2',
    gateway: '`Expect: 100-continue` of a request that has arrived completely gets no 100.',
    envoy: 'It gets one.',
    reason: 'RFC 9110 §10.1.1: the client does not wait for it.',
    scenarios: {},
    http2: {
      client: {
        'request body: with Expect and a body at once': { response: ['200', '100'], 'response 2': ['-', '200'] },
      },
    },
  },
  {
    topic: 'Requests over HTTP/2',
    gateway: 'A body that is larger than `maxRequestBytes` results in 413, whatever its size.',
    envoy: 'A body that arrives with its end is forwarded.',
    reason: 'The limit applies to the request, not to the buffered data.',
    scenarios: {},
    http2: {
      client: {
        'buffer: rejects a larger body': { response: ['413', '200'], requests: ['0', '1'] },
        'buffer: rejects a larger body in chunks': { response: ['413', '200'], requests: ['0', '1'] },
        'buffer: rejects what is larger than that of the route': { response: ['413', '200'], requests: ['0', '1'] },
      },
    },
  },
  {
    topic: 'Paths',
    gateway:
      'An invalid escape, overlong UTF-8, bytes above 0x7f over HTTP/2, a backslash, dot segments that are encoded twice or behind `;` or `%2f`, and a backslash after unescaping result in 400.',
    envoy: 'Forwarded, a backslash as a slash.',
    reason: 'Servers differ in what these paths mean: [why](decisions/001-one-canonical-path.md).',
    scenarios: {
      'escaped slashes, UNESCAPE_AND_FORWARD: and backslashes in the path': {
        response: ['400 Bad Request', '200 OK'],
        requests: ['0', '1'],
      },
      'escaped slashes, UNESCAPE_AND_REDIRECT: and backslashes in the path': {
        response: ['400 Bad Request', '307 Temporary Redirect'],
      },
      'path: with a backslash': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
      'path: with a path parameter before dot segments': { response: ['400 Bad Request', '200 OK'] },
      'path: with an invalid escape': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
      'path: with dot segments behind an escaped slash': {
        response: ['400 Bad Request', '200 OK'],
        requests: ['0', '1'],
      },
      'path: with dot segments encoded twice': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
      'path: with overlong UTF-8': { response: ['400 Bad Request', '200 OK'], requests: ['0', '1'] },
    },
    http2: { client: { 'head: with a UTF-8 target': { response: ['400', '200'], requests: ['0', '1'] } } },
  },
  {
    topic: 'Paths',
    gateway: 'With `normalizePath: false`, dot segments result in 400.',
    envoy: 'Forwarded.',
    reason: 'A policy would check a different path than the upstream serves.',
    scenarios: {
      'without normalizePath: a path with dot segments': {
        response: ['400 Bad Request', '200 OK'],
        requests: ['0', '1'],
      },
    },
  },
  {
    topic: 'Paths',
    gateway: 'Escapes are written with upper-case digits.',
    envoy: 'As the client wrote them.',
    reason: 'RFC 3986 §6.2.2.1; matching, policies and upstream see one form.',
    scenarios: {
      'escaped slashes, KEEP_UNCHANGED: and backslashes in the path': {
        request: ['GET /a%5Cb HTTP/1.1', 'GET /a%5cb HTTP/1.1'],
      },
      'path: with lower-case escapes': { request: ['GET /%C3%A9 HTTP/1.1', 'GET /%c3%a9 HTTP/1.1'] },
    },
  },
  {
    topic: 'Paths',
    gateway: 'Braces and vertical bars in paths are forwarded as the client wrote them.',
    envoy: 'They are escaped.',
    reason: 'Both forms are equivalent; the upstream receives what the client sent.',
    scenarios: {
      'path: with quotes and braces': { request: ["GET /a'(b){c}|d HTTP/1.1", "GET /a'(b)%7Bc%7D%7Cd HTTP/1.1"] },
    },
  },
  {
    topic: 'Paths',
    gateway: 'A rewrite of `/a/b` to `/` sends `/x` for `/a/b/x`.',
    envoy: '`//x`.',
    reason: 'A path with two slashes may be read as a host.',
    scenarios: {
      'prefix rewrite of /a/b to /: replaces the prefix': { request: ['GET /x HTTP/1.1', 'GET //x HTTP/1.1'] },
    },
  },
  {
    topic: 'Paths',
    gateway: '`x-envoy-original-path` is sent if the path changed.',
    envoy: 'Whenever the route has a `regexRewrite`.',
    reason: 'Otherwise both paths are the same.',
    scenarios: { 'regex rewrite, groups: leave other paths': { 'request x-envoy-original-path': ['-', '/other'] } },
  },
  {
    topic: 'Paths',
    gateway: 'An invalid host from `hostRewritePathRegex` results in 400.',
    envoy: 'It is sent.',
    reason: 'The upstream could not use it.',
    scenarios: {
      'host rewrite by the path: of another path uses the path': {
        response: ['400 Bad Request', '200 OK'],
        requests: ['0', '1'],
      },
    },
  },
  {
    topic: 'Matching',
    gateway: 'The values of a repeated header are joined by commas and compared as one.',
    envoy: 'Each value is compared; one match is enough.',
    reason: 'Otherwise a client could add a value that the upstream sees but no route tests.',
    scenarios: {
      'header: does not match one of two values': { 'response body': ['else', 'value'] },
      'header: does not match the second of two values': { 'response body': ['else', 'value'] },
    },
  },
  {
    topic: 'Request headers',
    gateway: '`x-forwarded-port` of clients is removed unless the listener trusts the proxies in front of it.',
    envoy: 'They are forwarded.',
    reason: 'A client could forge the port of links in responses.',
    scenarios: { 'forwarded headers of a client: x-forwarded-port': { 'request x-forwarded-port': ['-', '1'] } },
  },
  {
    topic: 'Request headers',
    gateway: 'All `x-envoy-*` headers of clients are removed.',
    envoy: 'Only the known ones.',
    reason: 'Upstreams trust them.',
    scenarios: {
      'forwarded headers of a client: x-envoy-attempt-count': { 'request x-envoy-attempt-count': ['-', '7'] },
      'forwarded headers of a client: x-envoy-foo': { 'request x-envoy-foo': ['-', '1'] },
    },
  },
  {
    topic: 'Request headers',
    gateway: 'Reserved headers in other spellings, such as `x_forwarded_for`, are removed.',
    envoy: 'They are forwarded.',
    reason: 'Many servers treat both spellings as one header.',
    scenarios: {},
    http2: {
      client: { 'HTTP/2 headers: identity in other spellings': { 'request x_forwarded_for': ['-', '1.2.3.4'] } },
    },
  },
  {
    topic: 'Request headers',
    gateway: '`x-envoy-external-address` is not sent.',
    envoy: 'It has the address of the client.',
    reason: 'The last entry of `x-forwarded-for` is the same address.',
    scenarios: {
      'everything: forwards a body with a length': { 'request x-envoy-external-address': ['-', '127.0.0.2'] },
      'everything: forwards a request and its response': { 'request x-envoy-external-address': ['-', '127.0.0.2'] },
      'everything: responds to HTTP/1.1 with close': { 'request x-envoy-external-address': ['-', '127.0.0.2'] },
    },
  },
  {
    topic: 'Request headers',
    gateway: '`Forwarded`, `Proxy-Authorization` and `Proxy-Authenticate` are removed.',
    envoy: 'They are forwarded.',
    reason: 'Only proxies may set the first; the others belong to the connection.',
    scenarios: {
      'request headers: Forwarded': { 'request forwarded': ['-', 'for=1.2.3.4'] },
      'request headers: of the connection': { 'request proxy-authenticate': ['-', 'a'] },
      'request headers: with proxy credentials': { 'request proxy-authorization': ['-', 'Basic abc'] },
    },
  },
  {
    topic: 'Request headers',
    gateway: '`TE: trailers` is sent with `Connection: TE`.',
    envoy: 'Without it.',
    reason: 'RFC 9110 §10.1.4 requires it.',
    scenarios: {
      'request headers: TE: trailers': { 'request connection': ['TE', '-'] },
      'request headers: TE: trailers named by Connection': { 'request connection': ['TE', '-'] },
      'response body: with trailers for a client that asks for them': { 'request connection': ['TE', '-'] },
      'trailers: of a response': { 'request connection': ['TE', '-'] },
      'trailers: of a response that announces them': { 'request connection': ['TE', '-'] },
    },
    http2: {
      client: {
        'HTTP/2 headers: te: trailers': { 'request connection': ['TE', '-'] },
        'gRPC call: whose response is no gRPC': { 'request connection': ['TE', '-'] },
        'gRPC call: whose response is 404': { 'request connection': ['TE', '-'] },
        'gRPC deadline: in milliseconds': { 'request connection': ['TE', '-'] },
        'gRPC deadline: in microseconds': { 'request connection': ['TE', '-'] },
        'gRPC deadline: in nanoseconds': { 'request connection': ['TE', '-'] },
      },
      both: {
        'HTTP/2 headers: te: trailers': {},
        'gRPC call: whose response is no gRPC': {},
        'gRPC call: whose response is 404': {},
        'gRPC deadline: in milliseconds': {},
        'gRPC deadline: in microseconds': {},
        'gRPC deadline: in nanoseconds': {},
      },
    },
  },
  {
    topic: 'Request headers',
    gateway: '`Trailer` is removed with the trailers.',
    envoy: 'It is forwarded, although the trailers are dropped.',
    reason: 'It would announce trailers that do not follow.',
    scenarios: {
      'request body: with trailers': { 'request trailer': ['-', 'x-a'] },
      'trailers that only the listener enables: of a request': { 'request trailer': ['-', 'x-a'] },
      'trailers that only the upstream enables: of a request': { 'request trailer': ['-', 'x-a'] },
      'response body: with trailers for a client that asks for them': { 'response trailer': ['-', 'x-t'] },
      'response headers: trailer': { 'response trailer': ['-', 'x-a'] },
    },
    http2: {
      upstream: { 'trailers that only the listener enables: of a request': {} },
      both: { 'response body: with trailers for a client that asks for them': {}, 'response headers: trailer': {} },
    },
  },
  {
    topic: 'Request headers',
    gateway: 'OPTIONS requests without a body have no `content-length`.',
    envoy: 'They have `content-length: 0` over HTTP/1.1.',
    reason: 'RFC 9110 §8.6.',
    scenarios: {
      'cors: preflight of an origin that matches a regex in part': { 'request content-length': ['-', '0'] },
      'cors: preflight of another origin': { 'request content-length': ['-', '0'] },
      'cors: preflight without method is forwarded': { 'request content-length': ['-', '0'] },
      'csrf: allows OPTIONS of another origin': { 'request content-length': ['-', '0'] },
      'response body: of OPTIONS': { 'request content-length': ['-', '0'] },
    },
    onlyHttp1: 'upstream',
  },
  {
    topic: 'Request headers',
    gateway: 'POST requests without a body also have `content-length: 0` over HTTP/2.',
    envoy: 'Only over HTTP/1.1.',
    reason: 'RFC 9110 §8.6: the method expects content.',
    scenarios: {},
    http2: {
      upstream: { 'request body: of a POST without length': { 'request content-length': ['0', '-'] } },
      both: { 'request body: in no chunk': { 'request content-length': ['0', '-'] } },
    },
  },
  {
    topic: 'Request headers',
    gateway: '`:scheme` is that of the connection to the upstream.',
    envoy: 'That of a trusted `x-forwarded-proto`, or of the request.',
    reason: 'Servers reject a scheme that differs from their connection; `x-forwarded-proto` has that of the client.',
    scenarios: {},
    http2: {
      upstream: {
        'one trusted hop: keeps what it forwards': { 'request :scheme': ['http', 'https'] },
        'without useRemoteAddress: forwarded headers are kept': { 'request :scheme': ['http', 'https'] },
      },
      both: {
        'one trusted hop: keeps what it forwards': {},
        'without useRemoteAddress: forwarded headers are kept': {},
        'HTTP/2 pseudo-headers: with another scheme': { 'request :scheme': ['http', 'https'] },
      },
    },
    tls: { 'HTTP/2 pseudo-headers: with another scheme': { 'request :scheme': ['https', 'http'] } },
  },
  {
    topic: 'Request headers',
    gateway: 'gRPC requests have `te: trailers` over HTTP/2.',
    envoy: 'Only if the client sends it.',
    reason: 'gRPC requires it, and servers reject requests without it.',
    scenarios: {},
    http2: {
      upstream: {
        'gRPC request: that ends before the head': { 'request te': ['trailers', '-'] },
        'grpc-timeout: above the maximum': { 'request te': ['trailers', '-'] },
        'grpc-timeout: of a gRPC request': { 'request te': ['trailers', '-'] },
      },
      both: { 'gRPC call: without te': { 'request te': ['trailers', '-'] } },
    },
  },
  {
    topic: 'Request headers',
    gateway: '`grpc-timeout` is forwarded as the client sent it.',
    envoy: 'It is written in milliseconds, and lowered to `grpcTimeoutHeaderMax`.',
    reason: 'The gateway itself ends the request at that time.',
    scenarios: { 'grpc-timeout: above the maximum': { 'request grpc-timeout': ['10S', '1000m'] } },
    http2: {
      client: {
        'gRPC deadline: in microseconds': { 'request grpc-timeout': ['1000000u', '1000m'] },
        'gRPC deadline: in nanoseconds': { 'request grpc-timeout': ['99999999n', '100m'] },
      },
      both: { 'gRPC deadline: that is met': { 'request grpc-timeout': ['10S', '10000m'] } },
    },
  },
  {
    topic: 'Request headers',
    gateway: 'Whitespace around a value is also removed over HTTP/2.',
    envoy: 'It is forwarded.',
    reason: 'RFC 9113 §8.2.1 forbids it.',
    scenarios: {},
    http2: {
      both: {
        'HTTP/2 upstream: sends blanks around a value': { 'response x-a': ['1', ' 1\t'] },
        'HTTP/2 headers: a value with spaces around it': { 'request x-a': ['1', ' 1 '] },
      },
    },
  },
  {
    topic: 'Request headers',
    gateway: 'gRPC requests have no trailers.',
    envoy: 'They are forwarded.',
    reason: 'The gRPC protocol has no request trailers.',
    scenarios: {},
    http2: { both: { 'gRPC call: with trailers of the client': { 'request trailers': ['-', 'x-t: 1'] } } },
  },
  {
    topic: 'Request headers',
    gateway:
      'Identity headers, and headers that claims, auth steps or routes set or remove, never pass as request trailers.',
    envoy: 'They are forwarded.',
    reason: 'Some servers merge trailers into the headers.',
    scenarios: {},
  },
  {
    topic: 'Response headers',
    gateway: 'A response with status 205 has no `content-length` over HTTP/2.',
    envoy: '`content-length: 0`.',
    reason: 'Its status says that it has no content (RFC 9110 §15.3.6).',
    scenarios: {},
    http2: {
      client: { 'response body: of 205': { 'response content-length': ['-', '0'] } },
      both: { 'response body: of 205': { 'response content-length': ['-', '0'] } },
    },
  },
  {
    topic: 'Response headers',
    gateway: 'Persistent connections have `Connection: keep-alive` and `Keep-Alive`.',
    envoy: 'Neither.',
    reason: 'Clients learn how long they may reuse the connection.',
    scenarios: {
      'everything: forwards a body with a length': {
        'response connection': ['keep-alive', '-'],
        'response keep-alive': ['timeout=3600', '-'],
      },
      'everything: forwards a request and its response': {
        'response connection': ['keep-alive', '-'],
        'response keep-alive': ['timeout=3600', '-'],
      },
    },
  },
  {
    topic: 'Response headers',
    gateway: 'Names are sent as the upstream wrote them.',
    envoy: 'In lower case.',
    reason: 'Names have no case (RFC 9110 §5.1).',
    scenarios: { 'response headers: are lower-case': { 'response order': ['X-Camel', 'x-camel'] } },
    onlyHttp1: 'both',
  },
  {
    topic: 'Response headers',
    gateway: '`Proxy-Authenticate` and headers that `Connection` names are removed.',
    envoy: 'They are forwarded.',
    reason: 'They belong to the connection to the upstream (RFC 9110 §7.6.1).',
    scenarios: {
      'response headers: named by Connection': { 'response x-named': ['-', '1'] },
      'response headers: of the connection': { 'response proxy-authenticate': ['-', 'Basic'] },
    },
  },
  {
    topic: 'Response headers',
    gateway: '`via` is a header of its own.',
    envoy: 'It is appended to the value.',
    reason: 'Both mean the same (RFC 9110 §5.3).',
    scenarios: {
      'via: is appended': { 'response via': ['1.1 b | gw', '1.1 b, gw'], 'request via': ['1.1 a | gw', '1.1 a, gw'] },
    },
  },
  {
    topic: 'Response headers',
    gateway: 'With CORS, responses have `Vary: Origin`.',
    envoy: 'They do not.',
    reason: 'Caches must not send a response for one origin to another.',
    scenarios: {
      'cors of any origin: allows a preflight': { 'response vary': ['Origin', '-'] },
      'cors of any origin: allows a request': { 'response vary': ['Origin', '-'] },
      'cors of the virtual host: applies to routes': { 'response vary': ['Origin', '-'] },
      'cors of the virtual host: has a preflight without methods': { 'response vary': ['Origin', '-'] },
      'cors: direct response': { 'response vary': ['Origin', '-'] },
      'cors: preflight for a private network': { 'response vary': ['Origin', '-'] },
      'cors: preflight of an allowed origin': { 'response vary': ['Origin', '-'] },
      'cors: preflight of an origin by regex': { 'response vary': ['Origin', '-'] },
      'cors: preflight of an origin that matches a regex in part': { 'response vary': ['Origin', '-'] },
      'cors: preflight of another method': { 'response vary': ['Origin', '-'] },
      'cors: preflight of another origin': { 'response vary': ['Origin', '-'] },
      'cors: preflight with headers': { 'response vary': ['Origin', '-'] },
      'cors: preflight without method is forwarded': { 'response vary': ['Origin', '-'] },
      'cors: request of an allowed origin': { 'response vary': ['Origin', '-'] },
      'cors: request of an origin in upper case': { 'response vary': ['Origin', '-'] },
      'cors: request of another origin': { 'response vary': ['Origin', '-'] },
      'cors: request of another origin whose upstream sends cors headers': { 'response vary': ['Origin', '-'] },
      'cors: request whose upstream sends cors headers': { 'response vary': ['Origin', '-'] },
      'cors: request with the origin null': { 'response vary': ['Origin', '-'] },
      'cors: request without origin': { 'response vary': ['Origin', '-'] },
    },
  },
  {
    topic: 'Response headers',
    gateway: 'Direct responses have CORS headers.',
    envoy: 'They have none.',
    reason: 'A script may read them like any other response.',
    scenarios: {
      'cors: direct response': {
        'response access-control-allow-origin': ['https://a.example', '-'],
        'response access-control-allow-credentials': ['true', '-'],
        'response access-control-expose-headers': ['x-exposed', '-'],
      },
    },
  },
  {
    topic: 'Response headers',
    gateway: 'With `mostSpecificHeaderMutationsWins`, changes of the destination are applied last.',
    envoy: 'Before those of the virtual host and the route.',
    reason: 'The destination is the most specific level.',
    scenarios: {
      'most specific headers: apply in their order': {
        'response x-append': ['upstream | host | route | destination', 'upstream | destination | host | route'],
        'response x-set': ['destination', 'route'],
        'request x-append': ['client | host | route | destination', 'client | destination | host | route'],
        'request x-set': ['destination', 'route'],
      },
    },
  },
  {
    topic: 'Response headers',
    gateway: 'A response that arrives before the request ends has `x-envoy-upstream-service-time`.',
    envoy: 'It has none.',
    reason: 'It is a response of the upstream like any other.',
    scenarios: {},
    http2: {
      both: {
        'HTTP/2 upstream: responds before the upload ends': { 'response x-envoy-upstream-service-time': ['(ms)', '-'] },
        'HTTP/2 upstream: responds before the upload ends, and resets': {
          'response x-envoy-upstream-service-time': ['(ms)', '-'],
        },
        'gRPC call: whose upload the server does not need': { 'response x-envoy-upstream-service-time': ['(ms)', '-'] },
      },
    },
  },
  {
    topic: 'gRPC-Web',
    gateway: 'Trailer lines in a body have a space after the colon.',
    envoy: 'They have none.',
    reason: 'Clients accept both.',
    scenarios: {},
    http2: {
      upstream: {
        'gRPC-Web: in binary form': {
          'response body': [
            '\u0000\u0000\u0000\u0000\u0005hello\u0000\u0000\u0000\u0010grpc-status: 0\r\n',
            '\u0000\u0000\u0000\u0000\u0005hello\u0000\u0000\u0000\u000fgrpc-status:0\r\n',
          ],
        },
        'gRPC-Web: in binary form with a format': {
          'response body': [
            '\u0000\u0000\u0000\u0000\u0005hello\u0000\u0000\u0000\u0010grpc-status: 0\r\n',
            '\u0000\u0000\u0000\u0000\u0005hello\u0000\u0000\u0000\u000fgrpc-status:0\r\n',
          ],
        },
        'gRPC-Web: in text form with a format': {
          'response body': [
            'AAAAAAVoZWxsbw==gAAAABBncnBjLXN0YXR1czogMA0K',
            'AAAAAAVoZWxsbw==gAAAAA9ncnBjLXN0YXR1czowDQo=',
          ],
        },
        'gRPC-Web: with a binary response to text': {
          'response body': [
            '\u0000\u0000\u0000\u0000\u0005hello\u0000\u0000\u0000\u0010grpc-status: 0\r\n',
            '\u0000\u0000\u0000\u0000\u0005hello\u0000\u0000\u0000\u000fgrpc-status:0\r\n',
          ],
        },
        'gRPC-Web: with several messages': {
          'response body': [
            '\u0000\u0000\u0000\u0000\u0001a\u0000\u0000\u0000\u0000\u0001b\u0000\u0000\u0000\u001bgrpc-status: 0\r\nx-last: 1\r\n',
            '\u0000\u0000\u0000\u0000\u0001a\u0000\u0000\u0000\u0000\u0001b\u0000\u0000\u0000\u0019grpc-status:0\r\nx-last:1\r\n',
          ],
        },
      },
    },
  },
  {
    topic: 'gRPC-Web',
    gateway: 'A response has the form of its request, unless `accept` names another one.',
    envoy: 'Binary form, unless `accept` names the text form.',
    reason: 'A client that sends text can read text.',
    scenarios: {},
    http2: {
      upstream: {
        'gRPC-Web: in text form': {
          'response content-type': ['application/grpc-web-text+proto', 'application/grpc-web+proto'],
          'response body': [
            'AAAAAAVoZWxsbw==gAAAABBncnBjLXN0YXR1czogMA0K',
            '\u0000\u0000\u0000\u0000\u0005hello\u0000\u0000\u0000\u000fgrpc-status:0\r\n',
          ],
        },
      },
    },
  },
  {
    topic: 'gRPC-Web',
    gateway: 'The format of a request, such as `+proto`, is kept.',
    envoy: 'It is removed.',
    reason: 'The server may need it.',
    scenarios: {},
    http2: {
      upstream: {
        'gRPC-Web: in binary form with a format': {
          'request content-type': ['application/grpc+proto', 'application/grpc'],
        },
        'gRPC-Web: in text form with a format': {
          'request content-type': ['application/grpc+proto', 'application/grpc'],
        },
      },
    },
  },
  {
    topic: 'gRPC-Web',
    gateway: 'Binary requests keep their `content-length`; over HTTP/1.1 they have no `te`.',
    envoy: 'They are sent in chunks with `te: trailers`.',
    reason: 'The length of the body does not change.',
    scenarios: {
      'gRPC-Web: whose response is no gRPC': {
        'request content-length': ['7', '-'],
        'request te': ['-', 'trailers'],
        'request transfer-encoding': ['-', 'chunked'],
      },
      'gRPC-Web: with GET': { 'request te': ['-', 'trailers'] },
    },
    http2: {
      client: {
        'gRPC-Web: whose response is no gRPC': {
          'request content-length': ['7', '-'],
          'request te': ['-', 'trailers'],
          'request transfer-encoding': ['-', 'chunked'],
        },
        'gRPC-Web: with GET': { 'request te': ['-', 'trailers'] },
      },
      upstream: {
        'gRPC-Web: whose response is no gRPC': { 'request content-length': ['7', '-'] },
        'gRPC-Web: with GET': {},
        'gRPC-Web: in binary form': { 'request content-length': ['7', '-'] },
        'gRPC-Web: in binary form with a format': { 'request content-length': ['7', '-'] },
        'gRPC-Web: that fails without a message': { 'request content-length': ['7', '-'] },
        'gRPC-Web: with several messages': { 'request content-length': ['7', '-'] },
      },
      both: {
        'gRPC-Web: whose response is no gRPC': { 'request content-length': ['7', '-'] },
        'gRPC-Web: with GET': {},
      },
    },
  },
  {
    topic: 'gRPC-Web',
    gateway: 'Responses of the gateway have status 200 and a `grpc-status`.',
    envoy: 'An HTTP status.',
    reason: 'Clients get the status of gRPC with its message.',
    scenarios: {
      'gRPC-Web: in text form that is no base64': { response: ['200 OK', '400 Bad Request'] },
      'gRPC-Web: to a closed port': { response: ['200 OK', '503 Service Unavailable'] },
      'gRPC-Web: without a route': { 'response content-type': ['-', 'application/grpc-web+proto'] },
    },
    http2: {
      client: {
        'gRPC-Web: in text form that is no base64': { response: ['200', '400'] },
        'gRPC-Web: to a closed port': { response: ['200', '503'] },
        'gRPC-Web: without a route': { 'response content-type': ['-', 'application/grpc-web+proto'] },
      },
      upstream: {
        'gRPC-Web: in text form that is no base64': { response: ['200 OK', '400 Bad Request'] },
        'gRPC-Web: to a closed port': { response: ['200 OK', '503 Service Unavailable'] },
        'gRPC-Web: without a route': { 'response content-type': ['-', 'application/grpc-web+proto'] },
      },
      both: {
        'gRPC-Web: in text form that is no base64': { response: ['200', '400'] },
        'gRPC-Web: to a closed port': { response: ['200', '503'] },
      },
    },
  },
  {
    topic: 'gRPC-Web',
    gateway: 'A response that is not gRPC is forwarded unchanged.',
    envoy: 'It gets a `grpc-status`, and its body becomes the message.',
    reason: 'Clients map the HTTP status themselves.',
    scenarios: {
      'gRPC-Web: whose response is no gRPC': {
        'response content-type': ['text/plain', 'application/grpc-web+proto'],
        'response body': ['down', '-'],
        'response grpc-message': ['-', 'down'],
        'response grpc-status': ['-', '14'],
      },
      'gRPC-Web: with GET': {
        'response body': ['ok', '-'],
        'response content-type': ['-', 'application/grpc-web+proto'],
        'response grpc-message': ['-', 'ok'],
        'response grpc-status': ['-', '2'],
      },
    },
    http2: {
      client: {
        'gRPC-Web: whose response is no gRPC': {
          'response content-type': ['text/plain', 'application/grpc-web+proto'],
          'response body': ['down', '-'],
          'response grpc-message': ['-', 'down'],
          'response grpc-status': ['-', '14'],
        },
        'gRPC-Web: with GET': {
          'response body': ['ok', '-'],
          'response content-type': ['-', 'application/grpc-web+proto'],
          'response grpc-message': ['-', 'ok'],
          'response grpc-status': ['-', '2'],
        },
      },
      upstream: {
        'gRPC-Web: whose response is no gRPC': {
          'response content-type': ['text/plain', 'application/grpc-web+proto'],
          'response body': ['down', '-'],
          'response grpc-message': ['-', 'down'],
          'response grpc-status': ['-', '14'],
        },
        'gRPC-Web: with GET': {
          'response body': ['ok', '-'],
          'response content-type': ['-', 'application/grpc-web+proto'],
          'response grpc-message': ['-', 'ok'],
          'response grpc-status': ['-', '2'],
        },
      },
    },
  },
  {
    topic: 'gRPC-Web',
    gateway: 'Base64 may be padded in the middle.',
    envoy: '400.',
    reason: 'Clients encode each message separately.',
    scenarios: {},
    http2: {
      upstream: {
        'gRPC-Web: in text form, padded in parts': { response: ['200 OK', '400 Bad Request'], requests: ['1', '0'] },
      },
      both: { 'gRPC-Web: in text form, padded in parts': { response: ['200', '400'], requests: ['1', '0'] } },
    },
  },
  {
    topic: 'gRPC-Web',
    gateway: 'A response without messages has no `content-length` over HTTP/1.1.',
    envoy: '`content-length: 0`.',
    reason: 'Both are equivalent.',
    scenarios: {},
    http2: {
      upstream: {
        'gRPC-Web: that fails without a message': {
          'response transfer-encoding': ['chunked', '-'],
          'response content-length': ['-', '0'],
        },
      },
      both: { 'gRPC-Web: that fails without a message': {} },
    },
  },
  {
    topic: 'Connections and bodies',
    gateway: 'A chunked response that arrives at once is sent with `content-length`.',
    envoy: 'In chunks.',
    reason: 'It saves a write; the body is the same.',
    scenarios: {
      'access log: of a response in chunks': {
        'response content-length': ['2', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
      'response body: in chunks': {
        'response content-length': ['5', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
      'response body: with trailers': {
        'response content-length': ['5', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
      'trailers that only the listener enables: of a response': {
        'response content-length': ['5', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
      'trailers that only the upstream enables: of a response': {
        'response content-length': ['5', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
      'response body: with trailers for a client that asks for them': {
        'response content-length': ['5', '-'],
        'response transfer-encoding': ['-', 'chunked'],
      },
    },
    http2: {
      client: { 'trailers that only the upstream enables: of a response': {} },
      both: {
        'HTTP/2 upstream, invalid: with data behind its end': { 'response content-length': ['1', '-'] },
        'response body: until the connection closes to HTTP/1.1 with close': {},
        'response body: with trailers': {},
        'response body: with trailers for a client that asks for them': {},
        'trailers that only the upstream enables: of a response': {},
        'HTTP/2 upstream: has trailers': {},
        'HTTP/2 upstream: has trailers behind its head': {},
        'HTTP/2 upstream: has empty DATA frames': { 'response content-length': ['1', '-'] },
        'HTTP/2 upstream: resets behind its end': { 'response content-length': ['3', '-'] },
        'HTTP/2 upstream: ends between requests': { 'response content-length': ['1', '-'] },
        'HTTP/2 upstream: responds before the upload ends': { 'response content-length': ['9', '-'] },
        'HTTP/2 upstream: responds before the upload ends, and resets': { 'response content-length': ['9', '-'] },
        'gRPC call: whose response ends without a status': { 'response content-length': ['6', '-'] },
      },
      upstream: {
        'HTTP/2 upstream, invalid: with data behind its end': {
          'response content-length': ['1', '-'],
          'response transfer-encoding': ['-', 'chunked'],
        },
        'response body: in chunks': {},
        'trailers that only the listener enables: of a response': {},
        'response body: until the connection closes to HTTP/1.1 with close': {
          'response content-length': ['5', '-'],
          'response transfer-encoding': ['-', 'chunked'],
        },
        'HTTP/2 upstream: has trailers': {
          'response content-length': ['1', '-'],
          'response transfer-encoding': ['-', 'chunked'],
        },
        'HTTP/2 upstream: has trailers behind its head': {
          'response content-length': ['0', '-'],
          'response transfer-encoding': ['-', 'chunked'],
        },
        'HTTP/2 upstream: has empty DATA frames': {
          'response content-length': ['1', '-'],
          'response transfer-encoding': ['-', 'chunked'],
        },
        'HTTP/2 upstream: resets behind its end': {
          'response content-length': ['3', '-'],
          'response transfer-encoding': ['-', 'chunked'],
        },
        'HTTP/2 upstream: ends between requests': {
          'response content-length': ['1', '-'],
          'response transfer-encoding': ['-', 'chunked'],
        },
      },
    },
  },
  {
    topic: 'Connections and bodies',
    gateway: 'A final response to `Expect: 100-continue` without a preceding 100 closes the connection.',
    envoy: 'It stays open.',
    reason: 'The bytes that follow could be the body.',
    scenarios: {
      'proxy100Continue: with a body at once': { closed: ['true', 'false'], 'response connection': ['close', '-'] },
    },
    onlyHttp1: 'upstream',
  },
  {
    topic: 'Connections and bodies',
    gateway: 'With `proxy100Continue`, 102 and 103 have their reason phrase, 103 has only `Link`, and 104 is dropped.',
    envoy: '`Unknown`, with all headers; 104 is forwarded.',
    reason: 'Clients cannot use other interim responses or headers.',
    scenarios: {
      'proxy100Continue: passes on 102': { response: ['102 Processing', '102 Unknown'] },
      'proxy100Continue: passes on 103': { response: ['103 Early Hints', '103 Unknown'] },
      'proxy100Continue: drops 104': { response: ['200 OK', '104 Unknown'], 'response 2': ['-', '200 OK'] },
    },
  },
  {
    topic: 'Connections and bodies',
    gateway: 'A response to HEAD without `content-length` has no `transfer-encoding`.',
    envoy: '`transfer-encoding: chunked`.',
    reason: 'No body follows.',
    scenarios: {
      'response body: to HEAD in chunks': { 'response transfer-encoding': ['-', 'chunked'] },
      'response body: to HEAD without length': { 'response transfer-encoding': ['-', 'chunked'] },
    },
  },
  {
    topic: 'Connections and bodies',
    gateway: 'The response to HTTP/1.0 has the version of the gateway, HTTP/1.1, and the connection is closed.',
    envoy: 'HTTP/1.0.',
    reason: 'RFC 9110 §2.5: a server sends its highest version.',
    scenarios: {
      'HTTP/1.0: gets no chunks': { response: ['200 OK', 'HTTP/1.0 200 OK'] },
      'HTTP/1.0: is served and closed': { response: ['200 OK', 'HTTP/1.0 200 OK'] },
      'HTTP/1.0: with a body': { response: ['200 OK', 'HTTP/1.0 200 OK'] },
      'HTTP/1.0: with keep-alive': { response: ['200 OK', 'HTTP/1.0 200 OK'] },
      'HTTP/1.0: without Host gets the default': { response: ['200 OK', 'HTTP/1.0 200 OK'] },
    },
  },
  {
    topic: 'Connections and bodies',
    gateway: 'An upgrade to an unknown protocol is ignored: the request is forwarded without it.',
    envoy: '403.',
    reason: 'RFC 9110 §7.8: a server may ignore it.',
    scenarios: { 'upgrade: to an unknown protocol': { response: ['200 OK', '403 Forbidden'], requests: ['1', '0'] } },
    onlyHttp1: 'both',
  },
  {
    topic: 'Connections and bodies',
    gateway: 'The response that opens a WebSocket has `x-envoy-upstream-service-time`, and a 101 has no `date`.',
    envoy: 'It has a `date`, and no `x-envoy-upstream-service-time`.',
    reason: 'It is a response of the upstream like any other.',
    scenarios: {
      ...inAll(
        [
          'tunnel of a WebSocket: that the client ends',
          'access log of retries: of a WebSocket',
          'access log: of a WebSocket',
          'upgrade: to websocket',
          'tunnel of a WebSocket: that the client resets',
          'tunnel of a WebSocket: that the client ends at once',
          'tunnel of a WebSocket: that the upstream ends',
          'tunnel of a WebSocket: that the upstream resets',
          'tunnel of a WebSocket: with data behind the request',
          'tunnel of a WebSocket: with data behind the response',
          'tunnel of a WebSocket: with much data',
        ],
        { 'response date': ['-', '(date)'], 'response x-envoy-upstream-service-time': ['(ms)', '-'] },
      ),
      ...inAll(
        [
          'upgrade retries on 5xx of up: of a WebSocket that is reset',
          'upgrade retries on 5xx of up: of a WebSocket with 503',
        ],
        {
          'response date': ['-', '(date)'],
          'response x-envoy-upstream-service-time': ['(ms)', '-'],
        },
      ),
    },
    http2: {
      client: {
        ...inAll(
          [
            'tunnel of a WebSocket: that the client ends',
            'access log of retries: of a WebSocket',
            'access log: of a WebSocket',
            'upgrade: to websocket',
            'tunnel of a WebSocket: that the client resets',
            'tunnel of a WebSocket: that the client ends at once',
            'tunnel of a WebSocket: that the upstream ends',
            'tunnel of a WebSocket: that the upstream resets',
            'tunnel of a WebSocket: with data behind the request',
            'tunnel of a WebSocket: with data behind the response',
            'tunnel of a WebSocket: with much data',
          ],
          { 'response x-envoy-upstream-service-time': ['(ms)', '-'] },
        ),
        ...inAll(
          [
            'upgrade retries on 5xx of up: of a WebSocket that is reset',
            'upgrade retries on 5xx of up: of a WebSocket with 503',
          ],
          { 'response x-envoy-upstream-service-time': ['(ms)', '-'] },
        ),
      },
    },
  },
  {
    topic: 'Connections and bodies',
    gateway: 'A reset of one side of a WebSocket resets the other side.',
    envoy: 'The other side ends.',
    reason: 'The other side learns that data may be missing.',
    scenarios: {
      'tunnel of a WebSocket: that the client resets': { 'upstream tunnel ends with': ['reset', 'end'] },
      'tunnel of a WebSocket: that the upstream resets': { 'tunnel ends with': ['reset', 'end'] },
    },
    http2: {
      client: {
        'tunnel of a WebSocket: that the client resets': { 'upstream tunnel ends with': ['reset', 'end'] },
        'tunnel of a WebSocket: that the upstream resets': {},
      },
      upstream: {
        'tunnel of a WebSocket: that the client resets': {},
        'tunnel of a WebSocket: that the upstream resets': {},
      },
      both: {
        'tunnel of a WebSocket: that the client resets': {},
        'tunnel of a WebSocket: that the upstream resets': {},
      },
    },
    tls: { 'tunnel of a WebSocket: that the client resets': {}, 'tunnel of a WebSocket: that the upstream resets': {} },
  },
  {
    topic: 'Connections and bodies',
    gateway: 'A response that rejects an upgrade has `x-envoy-upstream-service-time`.',
    envoy: 'It has none.',
    reason: 'It is a response of the upstream like any other.',
    scenarios: {
      ...inAll(
        [
          'CONNECT: that a proxy refuses',
          'CONNECT: that a proxy refuses with 500',
          'upgrade: to websocket that the upstream refuses',
          'access log: of a rejected WebSocket',
          'upgrade: to websocket that the upstream refuses in chunks',
          'upgrade with a timeout: within a response that refuses',
          'upgrade retries on connect-failure of up: leave 503 of a WebSocket',
          'upgrade: to websocket that the upstream refuses with 204',
          'upgrade retries on 5xx of up: of a WebSocket with 503 each time',
          'upgrade: to websocket that the upstream refuses with 204 and a length',
          'upgrade: to websocket that the upstream refuses with 304',
          'upgrade: to websocket that the upstream refuses with 304 and a body',
          'upgrade: to websocket that the upstream refuses with more than its length',
          'upgrade: to websocket that the upstream refuses with more than its length, in two parts',
          'upgrade: to websocket that the upstream refuses with two responses',
        ],
        { 'response x-envoy-upstream-service-time': ['(ms)', '-'] },
      ),
    },
  },
  {
    topic: 'Connections and bodies',
    gateway: 'A 304 response to an upgrade keeps its `content-length`.',
    envoy: 'It is removed.',
    reason: 'RFC 9110 §8.6 allows it; it is the length of the 200.',
    scenarios: {
      'upgrade: to websocket that the upstream refuses with 304': { 'response content-length': ['5', '-'] },
      'upgrade: to websocket that the upstream refuses with 304 and a body': { 'response content-length': ['5', '-'] },
    },
    http2: { upstream: { 'upgrade: to websocket that the upstream refuses with 304': {} } },
  },
  {
    topic: 'Connections and bodies',
    gateway:
      '`Proxy-Authenticate` and `Proxy-Authorization` end at the gateway, also for CONNECT requests to a proxy behind it.',
    envoy: 'They are forwarded.',
    reason:
      'RFC 9110 §11.7: they belong to one connection. The credentials of clients are for policies of the gateway.',
    scenarios: {
      'CONNECT: that a proxy refuses': { 'response proxy-authenticate': ['-', 'Basic'] },
    },
  },
  {
    topic: 'Upstreams',
    gateway:
      'A response with HTTP/2.0 in text, a status outside 100–599, an unrequested 101, a bare LF or a folded line results in 502.',
    envoy: 'It is forwarded.',
    reason: 'It is not valid HTTP/1.1; forwarding it would forward the ambiguity.',
    scenarios: {
      'upstream: sends 101 that nobody asked for': { response: ['502 Bad Gateway', '101 Switching Protocols'] },
      'upstream: sends HTTP/2.0 in text': { response: ['502 Bad Gateway', '200 OK'] },
      'upstream: sends a bare LF': { response: ['502 Bad Gateway', '200 OK'] },
      'upstream: sends a folded header': { response: ['502 Bad Gateway', '200 OK'] },
      'upstream: sends status 1000': { response: ['502 Bad Gateway', '1000 Unknown'] },
      'upstream: sends status 600': { response: ['502 Bad Gateway', '600 Unknown'] },
    },
    http2: {
      upstream: { 'HTTP/2 upstream, invalid: with status 600': { response: ['502 Bad Gateway', '600 Unknown'] } },
      both: { 'HTTP/2 upstream, invalid: with status 600': { response: ['502', '600'] } },
    },
  },
  {
    topic: 'Upstreams',
    gateway:
      'A GET or HEAD whose reused connection is reset before the response is retried once, even without a retry policy.',
    envoy: '503.',
    reason: 'The upstream closed an idle connection; the request is safe to repeat.',
    scenarios: {
      'connection: is retried when the upstream resets a reused one': {
        'response 2': ['200 OK', '503 Service Unavailable'],
        requests: ['3', '2'],
        'request 3': ['GET /b HTTP/1.1', '-'],
      },
    },
    http2: {
      upstream: {
        'HTTP/2 upstream: sends no response and ends': { requests: ['2', '1'], 'request 2': ['GET / HTTP/2', '-'] },
      },
      both: { 'HTTP/2 upstream: sends no response and ends': {} },
    },
    tls: {
      'HTTP/2 upstream: sends no response and ends': { requests: ['2', '1'], 'request 2': ['GET / HTTP/2', '-'] },
    },
  },
  {
    topic: 'Upstreams',
    gateway: 'Copies by `shadowing` have the headers of the request.',
    envoy: 'Its own address is appended to `x-forwarded-for`, and `x-envoy-internal` is added.',
    reason: 'The shadow upstream should receive what the primary upstream receives.',
    scenarios: {
      'shadowing: ignores the response to the copy': {
        'other request x-forwarded-for': ['127.0.0.2', '127.0.0.2,(own address)'],
        'other request x-envoy-internal': ['-', 'true'],
      },
      'shadowing: sends a copy': {
        'other request x-forwarded-for': ['127.0.0.2', '127.0.0.2,(own address)'],
        'other request x-envoy-internal': ['-', 'true'],
      },
      'shadowing: sends a copy of the body': {
        'other request x-forwarded-for': ['127.0.0.2', '127.0.0.2,(own address)'],
        'other request x-envoy-internal': ['-', 'true'],
      },
    },
  },
  {
    topic: 'Upstreams',
    gateway: 'A response that is cut off within its head results in 503.',
    envoy: '502.',
    reason: 'The upstream disconnected; a retry may succeed.',
    scenarios: { 'upstream: ends within the head': { response: ['503 Service Unavailable', '502 Bad Gateway'] } },
    onlyHttp1: 'upstream',
  },
  {
    topic: 'Upstreams',
    gateway: 'A response head above 64 KiB results in 502.',
    envoy: 'It is forwarded.',
    reason: 'The head is buffered; the limit bounds the memory.',
    scenarios: { 'upstream: sends a header of 64 KiB': { response: ['502 Bad Gateway', '200 OK'] } },
    onlyHttp1: 'upstream',
  },
  {
    topic: 'Upstreams',
    gateway: 'Too many or too large response headers over HTTP/2 result in 502.',
    envoy: '503.',
    reason: 'The response is invalid, as over HTTP/1.1.',
    scenarios: {},
    http2: {
      upstream: {
        'upstream: sends 101 headers': { response: ['502 Bad Gateway', '503 Service Unavailable'] },
        'upstream: sends a header of 64 KiB': { response: ['502 Bad Gateway', '503 Service Unavailable'] },
      },
      both: {
        'upstream: sends 101 headers': { response: ['502', '503'] },
        'upstream: sends a header of 64 KiB': { response: ['502', '503'] },
      },
    },
  },
  {
    topic: 'Upstreams',
    gateway:
      'An invalid chunk at the start of a body, and a response over HTTP/2 that is invalid behind its head, result in 502.',
    envoy: 'The status of the response, cut off.',
    reason: 'The client learns the cause. After the first bytes, both cut the response off.',
    scenarios: { 'upstream: sends an invalid chunk': { response: ['502 Bad Gateway', '200 OK'] } },
    http2: {
      upstream: {
        'HTTP/2 upstream, invalid: longer than its length': { response: ['502 Bad Gateway', '200 OK'] },
        'HTTP/2 upstream, invalid: shorter than its length': { response: ['502 Bad Gateway', '200 OK'] },
        'HTTP/2 upstream, invalid: with a body for HEAD': { response: ['502 Bad Gateway', '200 OK'] },
        'HTTP/2 upstream, invalid: with a body for 204': { response: ['502 Bad Gateway', '204 No Content'] },
        'HTTP/2 upstream, invalid: with a body for 304': { response: ['502 Bad Gateway', '304 Not Modified'] },
        'HTTP/2 upstream, invalid: with trailers that do not end it': { response: ['502 Bad Gateway', '200 OK'] },
        'HTTP/2 upstream, invalid: with a pseudo-header in trailers': { response: ['502 Bad Gateway', '200 OK'] },
        'HTTP/2 upstream, invalid: with a length in trailers': { response: ['502 Bad Gateway', '200 OK'] },
      },
      both: {
        'HTTP/2 upstream, invalid: longer than its length': { response: ['502', '200'] },
        'HTTP/2 upstream, invalid: shorter than its length': { response: ['502', '200'] },
        'HTTP/2 upstream, invalid: with a body for HEAD': { response: ['502', '200'] },
        'HTTP/2 upstream, invalid: with a body for 204': { response: ['502', '204'] },
        'HTTP/2 upstream, invalid: with a body for 304': { response: ['502', '304'] },
        'HTTP/2 upstream, invalid: with trailers that do not end it': { response: ['502', '200'] },
        'HTTP/2 upstream, invalid: with a pseudo-header in trailers': { response: ['502', '200'] },
        'HTTP/2 upstream, invalid: with a length in trailers': { response: ['502', '200'] },
      },
    },
  },
  {
    topic: 'Upstreams',
    gateway: 'A body after 204 is ignored, and the connection is closed.',
    envoy: '502.',
    reason: 'The status is complete without it.',
    scenarios: {
      'upstream: sends 204 with a body': { response: ['204 No Content', '502 Bad Gateway'] },
      'upgrade: to websocket that the upstream refuses with 204 and a body': {
        response: ['204 No Content', '502 Bad Gateway'],
      },
    },
  },
  {
    topic: 'Upstreams',
    gateway: 'When a client resets a request, its stream to the upstream is reset with `CANCEL`.',
    envoy: 'With `INTERNAL_ERROR`.',
    reason: 'The response is no longer needed (RFC 9113 §7).',
    scenarios: {},
    http2: {
      both: {
        'HTTP/2 reset by the client: with 0': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 1': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 2': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 3': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 4': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 5': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 6': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 7': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 8': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 9': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 10': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 11': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 12': { resets: ['8', '2'] },
        'HTTP/2 reset by the client: with 13': { resets: ['8', '2'] },
      },
    },
  },
  {
    topic: 'Upstreams',
    gateway:
      'A stream that an upstream resets with `FLOW_CONTROL_ERROR`, `FRAME_SIZE_ERROR`, `COMPRESSION_ERROR` or `ENHANCE_YOUR_CALM` results in 502, as with `PROTOCOL_ERROR`.',
    envoy: '503.',
    reason: 'Both sides use these codes for invalid messages.',
    scenarios: {},
    http2: {
      upstream: {
        'HTTP/2 upstream: resets with 3 before the head': { response: ['502 Bad Gateway', '503 Service Unavailable'] },
        'HTTP/2 upstream: resets with 6 before the head': { response: ['502 Bad Gateway', '503 Service Unavailable'] },
        'HTTP/2 upstream: resets with 9 before the head': { response: ['502 Bad Gateway', '503 Service Unavailable'] },
        'HTTP/2 upstream: resets with 11 before the head': { response: ['502 Bad Gateway', '503 Service Unavailable'] },
      },
      both: {
        'HTTP/2 upstream: resets with 3 before the head': { response: ['502', '503'] },
        'HTTP/2 upstream: resets with 6 before the head': { response: ['502', '503'] },
        'HTTP/2 upstream: resets with 9 before the head': { response: ['502', '503'] },
        'HTTP/2 upstream: resets with 11 before the head': { response: ['502', '503'] },
      },
    },
  },
  {
    topic: 'Upstreams',
    gateway:
      'A request that an upstream did not process before GOAWAY is sent again up to three times, even without a retry policy.',
    envoy: '503.',
    reason: 'RFC 9113 §6.8: it is safe to repeat.',
    scenarios: {},
    http2: {
      upstream: {
        'HTTP/2 upstream: announces the end before the request': {
          response: ['200 OK', '503 Service Unavailable'],
          requests: ['2', '1'],
        },
      },
      both: {
        'HTTP/2 upstream: announces the end before the request': { response: ['200', '503'], requests: ['2', '1'] },
      },
    },
  },
  {
    topic: 'Upstreams',
    gateway: 'More than 16 interim responses to a request result in 502.',
    envoy: 'They are ignored.',
    reason: 'An upstream must not keep a request open forever.',
    scenarios: {},
    http2: {
      upstream: { 'HTTP/2 upstream, invalid: with 20 interim responses': { response: ['502 Bad Gateway', '200 OK'] } },
      both: { 'HTTP/2 upstream, invalid: with 20 interim responses': { response: ['502', '200'] } },
    },
  },
  {
    topic: 'Upgrades and tunnels',
    gateway:
      'The 200 that opens a tunnel has `x-envoy-upstream-service-time`, and no `date` or `server` of the gateway.',
    envoy: 'It has `date` and `server`, and no time.',
    reason: 'It has the headers of the upstream, with the changes of the route.',
    scenarios: {
      ...inAll(
        [
          'tunnel of CONNECT: that the client ends',
          'tunnel of CONNECT: that the client resets',
          'tunnel of CONNECT: that the client ends at once',
          'tunnel of CONNECT: that the upstream ends',
          'tunnel of CONNECT: that the upstream resets',
          'tunnel of CONNECT: with data behind the request',
          'tunnel of CONNECT: with data behind the response',
          'tunnel of CONNECT: with much data',
          'upgrade retries on 5xx of up: of CONNECT that is reset',
          'upgrade retries on 5xx of up: of CONNECT with 503',
        ],
        { 'response x-envoy-upstream-service-time': ['(ms)', '-'], 'response date': ['-', '(date)'] },
      ),
    },
    http2: {
      client: {
        ...inAll(
          [
            'tunnel of CONNECT: that the client ends',
            'tunnel of CONNECT: that the client resets',
            'tunnel of CONNECT: that the client ends at once',
            'tunnel of CONNECT: that the upstream ends',
            'tunnel of CONNECT: that the upstream resets',
            'tunnel of CONNECT: with data behind the request',
            'tunnel of CONNECT: with data behind the response',
            'tunnel of CONNECT: with much data',
            'upgrade retries on 5xx of up: of CONNECT that is reset',
            'upgrade retries on 5xx of up: of CONNECT with 503',
          ],
          { 'response x-envoy-upstream-service-time': ['(ms)', '-'] },
        ),
      },
    },
  },
  {
    topic: 'Upgrades and tunnels',
    gateway: 'A CONNECT request without a port results in 400, also over HTTP/2.',
    envoy: 'Over HTTP/2 it is forwarded.',
    reason: 'RFC 9110 §9.3.6: the target must have a port.',
    scenarios: {},
    http2: { client: { 'CONNECT: without a port': { response: ['400', '200'], requests: ['0', '1'] } } },
  },
  {
    topic: 'Upgrades and tunnels',
    gateway:
      'A WebSocket of an HTTP/2 client is sent over HTTP/1.1 with a `Sec-WebSocket-Key`, whose `Sec-WebSocket-Accept` is verified and not forwarded.',
    envoy: 'There is no key.',
    reason: 'RFC 6455 §4.1 requires a key; servers reject handshakes without one. HTTP/2 has none (RFC 8441 §5).',
    scenarios: {},
    http2: {
      client: {
        ...inAll(
          [
            'tunnel of a WebSocket: that the client ends',
            'access log: of a WebSocket',
            'upgrade: to websocket',
            'tunnel of a WebSocket: that the client resets',
            'tunnel of a WebSocket: that the client ends at once',
            'tunnel of a WebSocket: that the upstream ends',
            'tunnel of a WebSocket: that the upstream resets',
            'tunnel of a WebSocket: with data behind the request',
            'tunnel of a WebSocket: with data behind the response',
            'tunnel of a WebSocket: with much data',
          ],
          {
            'request sec-websocket-key': ['(generated)', '-'],
            'response sec-websocket-accept': ['-', 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='],
          },
        ),
        ...inAll(
          [
            'access log of retries: of a WebSocket',
            'upgrade retries on 5xx of up: of a WebSocket that is reset',
            'upgrade retries on 5xx of up: of a WebSocket with 503',
          ],
          {
            'request sec-websocket-key': ['(generated)', '-'],
            'request 2 sec-websocket-key': ['(generated)', '-'],
            'response sec-websocket-accept': ['-', 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='],
          },
        ),
        ...inAll(
          [
            'upgrade with a timeout: of a silent upstream',
            'upgrade: to websocket that the upstream refuses',
            'upgrade retries on connect-failure of up: leave a reset of a WebSocket',
            'access log: of a rejected WebSocket',
            'upgrade: to websocket that the upstream refuses in chunks',
            'upgrade with a timeout: within a response that refuses',
            'upgrade retries on connect-failure of up: leave 503 of a WebSocket',
            'upgrade: to websocket that the upstream refuses with 204',
            'access log: of a WebSocket that is reset',
            'upgrade: to websocket that the upstream refuses with 204 and a length',
            'upgrade: to websocket that the upstream refuses with 204 and a body',
            'upgrade: to websocket that the upstream refuses with 304',
            'upgrade: to websocket that the upstream refuses with 304 and a body',
            'upgrade: to websocket that the upstream refuses with more than its length',
            'upgrade: to websocket that the upstream refuses with more than its length, in two parts',
            'upgrade: to websocket that the upstream refuses with two responses',
          ],
          { 'request sec-websocket-key': ['(generated)', '-'] },
        ),
        'upgrade retries on 5xx of up: of a WebSocket with 503 each time': {
          'request sec-websocket-key': ['(generated)', '-'],
          'request 2 sec-websocket-key': ['(generated)', '-'],
          'request 3 sec-websocket-key': ['(generated)', '-'],
        },
      },
      both: {
        ...inAll(
          [
            'tunnel of a WebSocket: that the client ends',
            'access log of retries: of a WebSocket',
            'upgrade with a timeout: of a silent upstream',
            'upgrade: to websocket that the upstream refuses',
            'upgrade retries on connect-failure of up: leave a reset of a WebSocket',
            'access log: of a rejected WebSocket',
            'upgrade: to websocket that the upstream refuses in chunks',
            'upgrade retries on 5xx of up: of a WebSocket that is reset',
            'upgrade retries on 5xx of up: of a WebSocket with 503',
            'upgrade retries on connect-failure of up: leave 503 of a WebSocket',
            'access log: of a WebSocket',
            'upgrade: to websocket that the upstream refuses with 204',
            'upgrade retries on 5xx of up: of a WebSocket with 503 each time',
            'access log: of a WebSocket that is reset',
            'upgrade: to websocket that the upstream refuses with 204 and a length',
            'upgrade: to websocket that the upstream refuses with 304',
            'upgrade: to websocket',
            'tunnel of a WebSocket: that the client resets',
            'tunnel of a WebSocket: that the client ends at once',
            'tunnel of a WebSocket: that the upstream ends',
            'tunnel of a WebSocket: that the upstream resets',
            'tunnel of a WebSocket: with data behind the request',
            'tunnel of a WebSocket: with data behind the response',
            'tunnel of a WebSocket: with much data',
          ],
          {},
        ),
      },
    },
  },
  {
    topic: 'Upgrades and tunnels',
    gateway:
      'A WebSocket is sent over HTTP/2 without `Sec-WebSocket-Key`, and the client receives the `Sec-WebSocket-Accept` of its key.',
    envoy: 'The key is forwarded, and the response has no `Sec-WebSocket-Accept`.',
    reason: 'RFC 6455 §4.1: clients fail without it.',
    scenarios: {},
    http2: {
      upstream: {
        ...inAll(
          [
            'tunnel of a WebSocket: that the client ends',
            'access log: of a WebSocket',
            'upgrade: to websocket',
            'tunnel of a WebSocket: that the client resets',
            'tunnel of a WebSocket: that the client ends at once',
            'tunnel of a WebSocket: that the upstream ends',
            'tunnel of a WebSocket: that the upstream resets',
            'tunnel of a WebSocket: with data behind the request',
            'tunnel of a WebSocket: with data behind the response',
            'tunnel of a WebSocket: with much data',
          ],
          {
            'response sec-websocket-accept': ['s3pPLMBiTxaQ9kYGzzhZRbK+xOo=', '-'],
            'request sec-websocket-key': ['-', 'dGhlIHNhbXBsZSBub25jZQ=='],
          },
        ),
        ...inAll(
          [
            'access log of retries: of a WebSocket',
            'upgrade retries on 5xx of up: of a WebSocket that is reset',
            'upgrade retries on 5xx of up: of a WebSocket with 503',
          ],
          {
            'response sec-websocket-accept': ['s3pPLMBiTxaQ9kYGzzhZRbK+xOo=', '-'],
            'request sec-websocket-key': ['-', 'dGhlIHNhbXBsZSBub25jZQ=='],
            'request 2 sec-websocket-key': ['-', 'dGhlIHNhbXBsZSBub25jZQ=='],
          },
        ),
        ...inAll(
          [
            'upgrade with a timeout: of a silent upstream',
            'upgrade: to websocket that the upstream refuses',
            'upgrade retries on connect-failure of up: leave a reset of a WebSocket',
            'access log: of a rejected WebSocket',
            'upgrade: to websocket that the upstream refuses in chunks',
            'upgrade retries on connect-failure of up: leave 503 of a WebSocket',
            'upgrade: to websocket that the upstream refuses with 204',
            'access log: of a WebSocket that is reset',
            'upgrade: to websocket that the upstream refuses with 204 and a length',
            'upgrade: to websocket that the upstream refuses with 304',
          ],
          { 'request sec-websocket-key': ['-', 'dGhlIHNhbXBsZSBub25jZQ=='] },
        ),
        'upgrade retries on 5xx of up: of a WebSocket with 503 each time': {
          'request sec-websocket-key': ['-', 'dGhlIHNhbXBsZSBub25jZQ=='],
          'request 2 sec-websocket-key': ['-', 'dGhlIHNhbXBsZSBub25jZQ=='],
          'request 3 sec-websocket-key': ['-', 'dGhlIHNhbXBsZSBub25jZQ=='],
        },
      },
      both: {
        ...inAll(
          [
            'tunnel of a WebSocket: that the client ends',
            'access log of retries: of a WebSocket',
            'upgrade with a timeout: of a silent upstream',
            'upgrade: to websocket that the upstream refuses',
            'upgrade retries on connect-failure of up: leave a reset of a WebSocket',
            'access log: of a rejected WebSocket',
            'upgrade: to websocket that the upstream refuses in chunks',
            'upgrade retries on 5xx of up: of a WebSocket that is reset',
            'upgrade retries on 5xx of up: of a WebSocket with 503',
            'upgrade retries on connect-failure of up: leave 503 of a WebSocket',
            'access log: of a WebSocket',
            'upgrade: to websocket that the upstream refuses with 204',
            'upgrade retries on 5xx of up: of a WebSocket with 503 each time',
            'access log: of a WebSocket that is reset',
            'upgrade: to websocket that the upstream refuses with 204 and a length',
            'upgrade: to websocket that the upstream refuses with 304',
            'upgrade: to websocket',
            'tunnel of a WebSocket: that the client resets',
            'tunnel of a WebSocket: that the client ends at once',
            'tunnel of a WebSocket: that the upstream ends',
            'tunnel of a WebSocket: that the upstream resets',
            'tunnel of a WebSocket: with data behind the request',
            'tunnel of a WebSocket: with data behind the response',
            'tunnel of a WebSocket: with much data',
          ],
          {},
        ),
      },
    },
  },
  {
    topic: 'Upgrades and tunnels',
    gateway: 'A side that ends a tunnel ends the other side, and a side that resets it resets the other side.',
    envoy: 'An end is often forwarded as a reset.',
    reason: 'The data before the end is complete, and protocols in tunnels may use half-closed connections.',
    scenarios: {
      'tunnel of CONNECT: that the client resets': { 'upstream tunnel ends with': ['reset', 'end'] },
      'tunnel of CONNECT: that the upstream resets': { 'tunnel ends with': ['reset', 'end'] },
    },
    http2: {
      client: {
        ...inAll(['tunnel of CONNECT: that the upstream resets', 'tunnel of a WebSocket: that the upstream resets'], {
          'tunnel ends with': ['reset 2', 'reset 10'],
        }),
        ...inAll(
          [
            'tunnel of a WebSocket: that the client ends',
            'tunnel of a WebSocket: that the client ends at once',
            'tunnel of a WebSocket: with data behind the request',
            'tunnel of a WebSocket: with data behind the response',
          ],
          { 'tunnel ends with': ['end', 'reset 2'] },
        ),
        ...inAll(
          [
            'tunnel of CONNECT: that the client ends',
            'tunnel of CONNECT: that the client ends at once',
            'access log of retries: of a WebSocket',
            'tunnel of CONNECT: that the upstream ends',
            'tunnel of CONNECT: with data behind the request',
            'tunnel of CONNECT: with data behind the response',
            'tunnel of CONNECT: with much data',
            'access log: of a WebSocket',
            'tunnel of a WebSocket: that the upstream ends',
            'tunnel of a WebSocket: with much data',
          ],
          { 'tunnel ends with': ['end', 'reset 10'] },
        ),
      },
      upstream: {
        ...inAll(['tunnel of CONNECT: that the client resets', 'tunnel of CONNECT: that the upstream resets'], {}),
        ...inAll(
          [
            'tunnel of a WebSocket: that the client ends',
            'tunnel of CONNECT: that the client ends',
            'tunnel of CONNECT: that the client ends at once',
            'access log of retries: of a WebSocket',
            'tunnel of CONNECT: that the upstream ends',
            'tunnel of CONNECT: with data behind the request',
            'tunnel of CONNECT: with data behind the response',
            'tunnel of CONNECT: with much data',
            'access log: of a WebSocket',
            'tunnel of a WebSocket: that the client ends at once',
            'tunnel of a WebSocket: that the upstream ends',
            'tunnel of a WebSocket: with data behind the request',
            'tunnel of a WebSocket: with data behind the response',
            'tunnel of a WebSocket: with much data',
          ],
          { 'upstream tunnel ends with': ['end', 'reset 2'] },
        ),
      },
      both: {
        ...inAll(
          [
            'tunnel of CONNECT: that the upstream resets',
            'tunnel of a WebSocket: that the client ends',
            'tunnel of CONNECT: that the client ends',
            'tunnel of CONNECT: that the client ends at once',
            'tunnel of CONNECT: with data behind the request',
            'tunnel of CONNECT: with data behind the response',
            'tunnel of a WebSocket: that the client ends at once',
            'tunnel of a WebSocket: that the upstream resets',
            'tunnel of a WebSocket: with data behind the request',
            'tunnel of a WebSocket: with data behind the response',
          ],
          {},
        ),
        ...inAll(
          [
            'access log of retries: of a WebSocket',
            'tunnel of CONNECT: that the upstream ends',
            'tunnel of CONNECT: with much data',
            'access log: of a WebSocket',
            'tunnel of a WebSocket: that the upstream ends',
            'tunnel of a WebSocket: with much data',
          ],
          { 'upstream tunnel ends with': ['end', 'reset 2'] },
        ),
      },
    },
    tls: { ...inAll(['tunnel of CONNECT: that the client resets', 'tunnel of CONNECT: that the upstream resets'], {}) },
  },
  {
    topic: 'Upgrades and tunnels',
    gateway: 'A stream whose upgrade is rejected is reset with `NO_ERROR` behind the complete response.',
    envoy: 'With `CONNECT_ERROR`.',
    reason: 'RFC 9113 §8.1: only the upload is not needed.',
    scenarios: {},
    http2: {
      client: {
        ...inAll(
          [
            'access log without an upstream: of a WebSocket',
            'CONNECT that is terminated: to a closed port',
            'upgrade retries on connect-failure of refused: of a WebSocket',
            'upgrade retries on connect-failure of up: leave a reset of a WebSocket',
            'upgrade retries on connect-failure of refused: of CONNECT',
            'access log: of a WebSocket that is reset',
          ],
          { 'response stops the upload': ['0', '10'] },
        ),
      },
    },
  },
  {
    topic: 'Upgrades and tunnels',
    gateway: 'A rejected upgrade over HTTP/2 keeps the connection open.',
    envoy: 'It is closed.',
    reason: 'Its other streams are not affected.',
    scenarios: {},
    http2: {
      client: {
        ...inAll(['CONNECT that no upgrade allows: is rejected', 'upgrade turned off: is refused'], {
          closed: ['false', 'true'],
        }),
      },
    },
  },
  {
    topic: 'Access logs',
    gateway:
      'In JSON, `%RESPONSE_FLAGS%` and `%RESPONSE_FLAGS_LONG%` without flags are `null`, like other missing values.',
    envoy: '`"-"`.',
    reason: 'In text both are `-`.',
    scenarios: {
      ...inAll(
        [
          'access log: of a request',
          'access log of retries: that help',
          'access log of rejections: by a direct response',
          'access log: of a request with a body',
          'access log: of HEAD',
          'access log: of a response with a type',
          'access log: of a response in chunks',
          'access log: of a response without a body',
          'access log: of an error of the upstream',
          'access log: of a rejected WebSocket',
          'access log: of a gRPC status',
        ],
        { 'log flags': ['(none)', '-'], 'log long flags': ['(none)', '-'] },
      ),
      'access log: of several requests': {
        'log flags': ['(none)', '-'],
        'log long flags': ['(none)', '-'],
        'log 2 flags': ['(none)', '-'],
        'log 2 long flags': ['(none)', '-'],
      },
    },
    http2: {
      upstream: {
        ...inAll(['access log of retries: of a WebSocket', 'access log: of a WebSocket'], {
          'log flags': ['(none)', '-'],
          'log long flags': ['(none)', '-'],
        }),
      },
    },
  },
  {
    topic: 'Access logs',
    gateway: '`%UPSTREAM_TRANSPORT_FAILURE_REASON%` has the code and the text of the error, for each failed attempt.',
    envoy: 'A text in the words of Envoy, for connections that could not be opened.',
    reason: 'It says more about the cause; `%RESPONSE_CODE_DETAILS%` has the text of Envoy.',
    scenarios: {
      ...inAll(
        ['access log without an upstream: of a refused connection', 'access log without an upstream: of a WebSocket'],
        {
          'log failure': ['ECONNREFUSED connect ECONNREFUSED 127.0.0.1:1', 'delayed_connect_error:_Connection_refused'],
        },
      ),
      ...inAll(
        [
          'access log above the limit of requests: of a request',
          'access log above the limit of requests: of a WebSocket',
        ],
        { 'log failure': ['too many active requests', '(none)'] },
      ),
      ...inAll(
        [
          'access log of retries: of resets',
          'access log: of a reset',
          'access log: of a response that is cut off',
          'access log: of a WebSocket that is reset',
        ],
        { 'log failure': ['ECONNRESET read ECONNRESET', '(none)'] },
      ),
      'access log of a timeout: before the response': { 'log failure': ['no response in 1000 ms', '(none)'] },
      'access log: of an invalid response': {
        'log failure': ['ERR_ROUTING_UPSTREAM_PROTOCOL malformed HTTP/1.1 status line', '(none)'],
      },
    },
  },
  {
    topic: 'Access logs',
    gateway: '`%REQUEST_DURATION%` of an upgrade is that of its head.',
    envoy: 'It has none.',
    reason: 'An upgrade has no body.',
    scenarios: {
      ...inAll(
        [
          'access log without an upstream: of a WebSocket',
          'access log above the limit of requests: of a WebSocket',
          'access log of retries: of a WebSocket',
          'access log: of a rejected WebSocket',
          'access log: of a WebSocket',
          'access log: of a WebSocket that is reset',
        ],
        { 'log request duration': ['(some)', '(none)'] },
      ),
    },
  },
  {
    topic: 'Access logs',
    gateway: 'A WebSocket that its upstream ends over HTTP/1.1 has no response flag.',
    envoy: '`UC`.',
    reason: 'It is the regular end of a WebSocket.',
    scenarios: {
      ...inAll(['access log of retries: of a WebSocket', 'access log: of a WebSocket'], {
        'log details': ['via_upstream', 'upstream_reset_after_response_started{connection_termination}'],
        'log flags': ['(none)', 'UC'],
        'log long flags': ['(none)', 'UpstreamConnectionTermination'],
        'log response tx duration': ['(some)', '(none)'],
      }),
    },
    http2: { upstream: { ...inAll(['access log of retries: of a WebSocket', 'access log: of a WebSocket'], {}) } },
  },
  {
    topic: 'Access logs',
    gateway: 'A response over HTTP/1.1 that a reset cuts off has the flag `UC`, and `%RESPONSE_TX_DURATION%`.',
    envoy: '`UPE`, and no duration.',
    reason: 'The connection was terminated; over HTTP/2 both have `UC`.',
    scenarios: {
      'access log: of a response that is cut off': {
        'log details': [
          'upstream_reset_after_response_started{connection_termination}',
          'upstream_reset_after_response_started{protocol_error}',
        ],
        'log flags': ['UC', 'UPE'],
        'log long flags': ['UpstreamConnectionTermination', 'UpstreamProtocolError'],
        'log response tx duration': ['(some)', '(none)'],
      },
    },
    http2: {
      upstream: { 'access log: of a response that is cut off': { 'log response tx duration': ['(some)', '(none)'] } },
    },
  },
  {
    topic: 'Access logs',
    gateway: '`%RESPONSE_CODE_DETAILS%` of an invalid response say what is invalid.',
    envoy: '`protocol_error` alone.',
    reason: 'It leads to the cause.',
    scenarios: {
      'access log: of an invalid response': {
        'log details': [
          'upstream_reset_before_response_started{protocol_error|malformed_HTTP/1.1_status_line}',
          'upstream_reset_before_response_started{protocol_error}',
        ],
      },
    },
  },
  {
    topic: 'Access logs',
    gateway: 'A request with too many headers is logged with its method, authority and path.',
    envoy: 'Without them.',
    reason: 'It can be found in the log.',
    scenarios: {
      'access log of rejections: of too many headers': {
        'log authority': ['$host', '(none)'],
        'log content type': ['(none)', 'text/plain'],
        'log method': ['GET', '(none)'],
        'log path': ['/a', '(none)'],
        'log sent': ['156', '31'],
      },
    },
    http2: {
      client: {
        'access log of rejections: of too many headers': {
          'log authority': ['$host', '(none)'],
          'log code': ['431', '0'],
          'log details': ['http1.too_many_headers', 'http2.too_many_headers'],
          'log flags': ['DPE', 'DR'],
          'log long flags': ['DownstreamProtocolError', 'DownstreamRemoteReset'],
          'log method': ['GET', '(none)'],
          'log path': ['/a', '(none)'],
          'log sent': ['156', '0'],
        },
      },
    },
  },
  {
    topic: 'Access logs',
    gateway: '`%GRPC_STATUS%` is logged for each response that has one.',
    envoy: 'Only if the request is one of gRPC.',
    reason: 'The upstream has sent it.',
    scenarios: { 'access log: of a gRPC status': { 'log gRPC status': ['NotFound', '(none)'] } },
  },
];
