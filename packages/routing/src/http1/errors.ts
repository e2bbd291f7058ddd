/** An upstream sent something that is not valid HTTP/1.1. */
export class UpstreamProtocolError extends Error {
  readonly code = 'ERR_ROUTING_UPSTREAM_PROTOCOL';
}

/** An upstream ended the connection before its response was complete. */
export class UpstreamClosedError extends Error {
  readonly code = 'ERR_ROUTING_UPSTREAM_RESET';
}

/** A request that must not be sent, e.g. because of a line break in a header. */
export class RequestHeadError extends Error {
  readonly code = 'ERR_ROUTING_FORWARD_REQUEST';
}
