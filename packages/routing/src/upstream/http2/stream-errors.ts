import { constants } from 'node:http2';
import { ConnectionError } from '../../http2/protocol-errors.ts';
import { UpstreamClosedError, UpstreamProtocolError, UpstreamResetError } from '../../http1/errors.ts';

/** Codes of a stream that violates the protocol, or the limits of its header list. Node resets such a stream itself. */
const PROTOCOL_CODES: ReadonlySet<number> = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
  constants.NGHTTP2_ENHANCE_YOUR_CALM,
]);

const CODE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants)
    .filter(([name]) =>
      /^NGHTTP2_(?:NO_ERROR|CANCEL|REFUSED_STREAM|CONNECT_ERROR|[A-Z0-9_]+_(?:ERROR|SECURITY|CALM|REQUIRED|TIMEOUT|CLOSED))$/.test(
        name,
      ),
    )
    .map(([name, code]) => [code as number, name.slice('NGHTTP2_'.length)]),
);

const nameOf = (code: number): string => CODE_NAMES.get(code) ?? String(code);

/** The `GOAWAY` of a peer. */
export interface Goaway {
  readonly code: number;
  /** The last stream that the peer processes. */
  readonly lastId: number;
}

/** How a stream, and the session that it belongs to, ended. */
export interface EndedStream {
  readonly id: number;
  readonly code: number;
  /** The error of the stream, if Node reports one. */
  readonly error: Error | undefined;
  /** The `GOAWAY` of the peer, if it sent one. */
  readonly goaway: Goaway | undefined;
  /** True if the session is closed. */
  readonly isSessionClosed: boolean;
}

/** Returns why a stream ended before its response was complete. */
export function streamError({ id, code, error, goaway, isSessionClosed }: EndedStream): Error {
  const isUnprocessed = goaway !== undefined && id > goaway.lastId;
  if (isUnprocessed) return new UpstreamResetError('it closes the connection', { isUnprocessed });
  if (code === constants.NGHTTP2_REFUSED_STREAM)
    return new UpstreamResetError('the upstream refused the stream', { isRefused: true });
  if (isSessionClosed) return sessionError(error, goaway?.code);
  if (PROTOCOL_CODES.has(code)) return new UpstreamProtocolError(`invalid response: ${nameOf(code)}`);
  const isConnectError = code === constants.NGHTTP2_CONNECT_ERROR;
  return new UpstreamResetError(`the upstream reset the stream with ${nameOf(code)}`, { isConnectError });
}

/** Returns why a connection ended. */
export function sessionError(error: Error | undefined, goawayCode?: number): Error {
  if (goawayCode) return new UpstreamClosedError(`the upstream closed the connection with ${nameOf(goawayCode)}`);
  if (error instanceof ConnectionError) return new UpstreamProtocolError(error.message);
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  // Errors of the protocol that Node detects; those of the socket have other codes.
  if (
    error &&
    code.startsWith('ERR_HTTP2_') &&
    code !== 'ERR_HTTP2_STREAM_CANCEL' &&
    code !== 'ERR_HTTP2_GOAWAY_SESSION'
  )
    return new UpstreamProtocolError(error.message);
  if (error && !code.startsWith('ERR_HTTP2_')) return error;
  return new UpstreamClosedError('the upstream closed the connection before its response was complete');
}
