import { GatewayError, type ErrorReply } from '@edge-gateway/core';

/** Every error code of this package, with the status of the response. Codes are never renamed or reused. */
export const ERROR_CODES = {
  ERR_ROUTING_AMBIGUOUS: {
    status: 400,
    message: 'the path or a header could be read in two ways, and different policies apply to them',
  },
  ERR_ROUTING_BACKSLASH: { status: 400, message: 'the path must not contain a backslash' },
  ERR_ROUTING_BAD_BODY: { status: 400, message: 'malformed HTTP/1.1 chunked body' },
  ERR_ROUTING_BAD_FRAMING: {
    status: 400,
    message: 'missing or conflicting Content-Length and Transfer-Encoding',
  },
  ERR_ROUTING_BAD_HEADER: { status: 400, message: 'malformed HTTP/1.1 request header' },
  ERR_ROUTING_BAD_HOST: {
    status: 400,
    message: 'the request must have exactly one Host header, with a host name and an optional port',
  },
  ERR_ROUTING_BAD_METHOD: { status: 400, message: 'unknown request method' },
  ERR_ROUTING_BAD_PATH: { status: 400, message: 'the path contains a character that is not allowed in a URL' },
  ERR_ROUTING_BAD_PERCENT: {
    status: 400,
    message: 'the path contains an invalid percent-encoding',
  },
  ERR_ROUTING_BAD_REQUEST: { status: 400, message: 'malformed HTTP/1.1 request' },
  ERR_ROUTING_BAD_TARGET: {
    status: 400,
    message: 'the request target is not an absolute path or a matching absolute URI',
  },
  ERR_ROUTING_BAD_TRAILER: { status: 400, message: 'a trailer field is not allowed after a request body' },
  ERR_ROUTING_BAD_UPGRADE: { status: 400, message: 'invalid WebSocket handshake' },
  ERR_ROUTING_BAD_UTF8: { status: 400, message: 'the path is not valid UTF-8' },
  ERR_ROUTING_BODY_CONSUMED: {
    status: 500,
    message: 'the request body was read before the forward middleware and cannot be sent again',
  },
  ERR_ROUTING_BODY_TOO_LARGE: { status: 413, message: 'the request body is larger than allowed' },
  ERR_ROUTING_CERTIFICATE: { status: 500, message: 'the certificate of a listener is invalid' },
  ERR_ROUTING_CSRF: { status: 403, message: 'Invalid origin' },
  ERR_ROUTING_CHUNK_EXTENSION: { status: 413, message: 'a chunk extension is larger than allowed' },
  ERR_ROUTING_DLP_ENCODING: { status: 502, message: 'the response has an unknown encoding, so it cannot be masked' },
  ERR_ROUTING_DOT_SEGMENT: { status: 400, message: 'the path must not contain dot segments' },
  ERR_ROUTING_DUPLICATE_HEADER: { status: 400, message: 'a request header that must appear only once appears twice' },
  ERR_ROUTING_ESCAPED_SLASH: { status: 400, message: 'the path must not contain escaped slashes' },
  ERR_ROUTING_EXPECTATION: { status: 417, message: 'unknown expectation in the Expect header' },
  ERR_ROUTING_EXT_PROC: { status: 500, message: 'external processing failed' },
  ERR_ROUTING_EXT_PROC_TIMEOUT: { status: 504, message: 'the external processor did not respond in time' },
  ERR_ROUTING_FAULT: { status: 503, message: 'fault filter abort' },
  ERR_ROUTING_FORWARD_ADDRESS: { status: 403, message: 'the requested host is not allowed' },
  ERR_ROUTING_FORWARD_DNS: { status: 503, message: 'the requested host cannot be resolved' },
  ERR_ROUTING_FORWARD_OPTIONS: { status: 500, message: 'invalid options of the forward middleware' },
  ERR_ROUTING_FORWARD_OVERFLOW: { status: 503, message: 'too many hosts or lookups' },
  ERR_ROUTING_FORWARD_REQUEST: { status: 500, message: 'the request cannot be sent upstream as it is' },
  ERR_ROUTING_FRAGMENT: { status: 400, message: 'the request target must not contain a fragment' },
  ERR_ROUTING_GRPC_JSON: { status: 400, message: 'the request does not match the gRPC method' },
  ERR_ROUTING_GRPC_JSON_RESPONSE: { status: 502, message: 'the gRPC response of the upstream is invalid' },
  ERR_ROUTING_GRPC_WEB: { status: 400, message: 'malformed base64 in a gRPC-Web request' },
  ERR_ROUTING_HANDLER: { status: 500, message: 'the request could not be processed' },
  ERR_ROUTING_HEAD_TOO_LARGE: { status: 431, message: 'the request head is larger than allowed' },
  ERR_ROUTING_HTTP10: { status: 426, message: 'HTTP/1.0 is not supported here' },
  ERR_ROUTING_LISTEN: { status: 500, message: 'failed to listen on an address' },
  ERR_ROUTING_METHOD_NOT_ALLOWED: { status: 405, message: 'the request method is not allowed' },
  ERR_ROUTING_MISDIRECTED: { status: 421, message: 'the host is not served on this connection' },
  ERR_ROUTING_NOT_CANONICAL: {
    status: 400,
    message: 'the path must not contain escapes of letters, digits or "-._~", or repeated slashes',
  },
  ERR_ROUTING_NO_CLUSTER: { status: 503, message: 'the cluster of the route does not exist' },
  ERR_ROUTING_NO_ENDPOINT: { status: 503, message: 'no healthy upstream' },
  ERR_ROUTING_NO_ROUTE: { status: 404, message: 'no route matches the request' },
  ERR_ROUTING_OPTION: { status: 500, message: 'invalid route option' },
  ERR_ROUTING_PREFLIGHT: { status: 200, message: 'the response to a CORS preflight' },
  ERR_ROUTING_REQUEST_TIMEOUT: { status: 408, message: 'the request did not arrive in time' },
  ERR_ROUTING_OVERLOADED: { status: 503, message: 'the gateway is overloaded, try again later' },
  ERR_ROUTING_ROUTE: { status: 500, message: 'this route is misconfigured' },
  ERR_ROUTING_SECRETS_PENDING: { status: 503, message: 'secrets of this route have not been received yet' },
  ERR_ROUTING_STREAM_DURATION: { status: 504, message: 'downstream duration timeout' },
  ERR_ROUTING_STREAM_TIMEOUT: { status: 504, message: 'stream timeout' },
  ERR_ROUTING_TARGET_TOO_LONG: { status: 414, message: 'the request target is longer than allowed' },
  ERR_ROUTING_TOO_MANY_HEADERS: { status: 431, message: 'the request has more headers or trailers than allowed' },
  ERR_ROUTING_TRANSFER_ENCODING: { status: 501, message: 'unknown transfer encoding' },
  ERR_ROUTING_TRANSFORMATION: { status: 400, message: 'bad request: the request cannot be transformed' },
  ERR_ROUTING_UNDERSCORE: { status: 400, message: 'header names with underscores are not allowed here' },
  ERR_ROUTING_UPGRADE: { status: 403, message: 'this upgrade is not allowed here' },
  ERR_ROUTING_UPGRADE_VERSION: { status: 426, message: 'only version 13 of the WebSocket protocol is supported' },
  ERR_ROUTING_UPSTREAM_CONNECT: { status: 503, message: 'upstream connect error' },
  ERR_ROUTING_UPSTREAM_CONNECT_TIMEOUT: { status: 503, message: 'upstream connect timeout' },
  ERR_ROUTING_UPSTREAM_DURATION: { status: 504, message: 'upstream max stream duration reached' },
  ERR_ROUTING_UPSTREAM_OVERFLOW: { status: 503, message: 'upstream overflow' },
  ERR_ROUTING_UPSTREAM_PROTOCOL: { status: 502, message: 'upstream protocol error' },
  ERR_ROUTING_UPSTREAM_RESET: { status: 503, message: 'upstream disconnected before response headers' },
  ERR_ROUTING_UPSTREAM_TIMEOUT: { status: 504, message: 'upstream request timeout' },
  ERR_ROUTING_UPSTREAM_TLS: { status: 503, message: 'invalid TLS configuration of the upstream' },
  ERR_ROUTING_UPSTREAM_TOO_LARGE: { status: 502, message: 'the response of the upstream is larger than allowed' },
  ERR_ROUTING_VERSION: { status: 505, message: 'unsupported HTTP version' },
} as const;

/** One of the keys of {@link ERROR_CODES}. */
export type RoutingErrorCode = keyof typeof ERROR_CODES;

/** Creates the error of a code; its message is that of the table unless another is given. */
export function routingError(
  code: RoutingErrorCode,
  message: string = ERROR_CODES[code].message,
  cause?: unknown,
): GatewayError {
  return new GatewayError(message, { code, status: ERROR_CODES[code].status, cause });
}

/** Creates an error with its own response: by default the status and the message of the code. */
export function replyError(
  code: RoutingErrorCode,
  { status, ...reply }: Partial<ErrorReply> & { readonly status?: number },
): GatewayError {
  const known = ERROR_CODES[code];
  const options = { code, status: status ?? known.status, reply: { body: known.message, ...reply } };
  return new GatewayError(known.message, options);
}
