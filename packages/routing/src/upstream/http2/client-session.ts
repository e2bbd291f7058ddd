import { connect, type ClientHttp2Session, type ClientSessionOptions } from 'node:http2';
import type { Socket } from 'node:net';
import type { ConnectionSettings } from '../cluster-settings.ts';
import { MAX_HEADER_LIST_BYTES } from './stream-head.ts';

/**
 * No limit here: headers are counted later. With a limit, Node can crash when it frees the session, because it keeps the headers of the
 * rejected list. Their size is bounded by the number of frames that nghttp2 accepts.
 */
const MAX_HEADER_PAIRS = 2 ** 31 - 1;
/** Malformed frames, each of which ends its stream, after which the connection is closed. */
const MAX_INVALID_FRAMES = 20;
/** Data of all streams of a connection that waits in memory, in MiB; flow control limits it further. */
const MAX_SESSION_MEMORY_MB = 512;
/** Node opens a connection with this window and changes it later. */
const INITIAL_CONNECTION_WINDOW = 65_535;

interface OtherOptions {
  readonly strictSingleValueFields: boolean;
  readonly strictFieldWhitespaceValidation: boolean;
  readonly maxSessionInvalidFrames: number;
}

/** Starts HTTP/2 on an open connection. */
export function createClientSession(
  socket: Socket,
  scheme: 'http' | 'https',
  { http2 }: ConnectionSettings,
): ClientHttp2Session {
  const options: ClientSessionOptions & OtherOptions = {
    createConnection: () => socket,
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionMemory: MAX_SESSION_MEMORY_MB,
    maxReservedRemoteStreams: 0,
    maxOriginSetSize: 0,
    // Headers that clients repeat are forwarded as they are, as over HTTP/1.1.
    strictSingleValueFields: false,
    // Spaces around a value are removed, as over HTTP/1.1.
    strictFieldWhitespaceValidation: false,
    settings: {
      enablePush: false,
      initialWindowSize: http2.streamWindow,
      maxHeaderListSize: MAX_HEADER_LIST_BYTES,
    },
  };
  const session = connect(`${scheme}://upstream`, options);
  if (http2.connectionWindow > INITIAL_CONNECTION_WINDOW) session.setLocalWindowSize(http2.connectionWindow);
  return session;
}
