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

/** An upstream reset the stream of a request over HTTP/2. */
export class UpstreamResetError extends Error {
  readonly code = 'ERR_ROUTING_UPSTREAM_RESET';
  /** True if the upstream refused the stream: it did not process the request. */
  readonly isRefused: boolean;
  /** True if the upstream closes the connection, and did not process the request. */
  readonly isUnprocessed: boolean;
  /** True if the upstream reset the stream with `CONNECT_ERROR`. */
  readonly isConnectError: boolean;

  constructor(message: string, { isRefused = false, isUnprocessed = false, isConnectError = false } = {}) {
    super(message);
    this.isRefused = isRefused;
    this.isUnprocessed = isUnprocessed;
    this.isConnectError = isConnectError;
  }
}
