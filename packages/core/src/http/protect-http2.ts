import type { Http2Session } from 'node:http2';
import { keepSessionsOfFailedStreams } from './failed-http2-streams.ts';
import { keepHttp2Writes } from './kept-http2-writes.ts';

/**
 * Protects all HTTP/2 connections of this process, also those of gRPC clients and servers, against two defects of Node: data of cancelled streams that is
 * overwritten while the system sends it, and crashes by incomplete header blocks. The programs of the gateway call it when they start. A library must not,
 * because it replaces functions of each stream.
 *
 * @example
 * protectHttp2();
 */
export function protectHttp2(): void {
  keepSessionsOfFailedStreams();
  keepHttp2Writes();
}

/** Protects one session, see {@link protectHttp2}. Streams of other sessions are not changed. Returns the session. */
export function protectHttp2Session<Session extends Http2Session>(session: Session): Session {
  keepSessionsOfFailedStreams();
  keepHttp2Writes(session);
  return session;
}
