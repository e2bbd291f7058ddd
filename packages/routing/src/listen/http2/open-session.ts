import type { Socket } from 'node:net';
import { setCloseDelay } from '@edge-gateway/core';
import { readInto } from '../http1/user-buffer.ts';
import type { ListenLimits } from '../limits.ts';
import { FrameSession } from './frame-session.ts';
import { MAX_INVALID_FRAMES, maxFieldsOf, maxListBytesOf } from './http2-settings.ts';
import { NodeSession } from './node-session.ts';
import type { ServerSession, SessionObserver } from './server-session.ts';

/** Starts HTTP/2 on the connection of a client; `webSockets` if clients may open them (RFC 8441). */
export function openSession(
  socket: Socket,
  observer: SessionObserver,
  limits: ListenLimits,
  webSockets: boolean,
): ServerSession {
  if (limits.http2Server === 'node') return new NodeSession(socket, observer, limits, webSockets);
  setCloseDelay(socket, limits.closeDelayMs);
  const session = new FrameSession(socket, observer, {
    streamWindow: limits.initialStreamWindowBytes,
    connectionWindow: limits.initialConnectionWindowBytes,
    maxHeaderListBytes: maxListBytesOf(limits),
    maxHeaderFields: maxFieldsOf(limits),
    maxStreams: limits.maxConcurrentStreams,
    maxInvalidFrames: MAX_INVALID_FRAMES,
    headTimeoutMs: limits.headTimeoutMs,
    closeDelayMs: Math.max(limits.closeDelayMs, 1),
    webSockets,
  });
  // The first bytes are read when the constructor of the observer has ended.
  process.nextTick(readSocket, socket, session);
  return session;
}

function readSocket(socket: Socket, session: FrameSession): void {
  if (socket.destroyed) return;
  const reads = readInto(socket, (length, buffer) => {
    session.read(buffer as Buffer, 0, length);
    return true;
  });
  if (!reads) return void socket.on('data', (chunk: Buffer) => session.read(chunk, 0, chunk.length));
  // Bytes that were read before, e.g. the preface.
  const received = socket.read() as Buffer | null;
  if (received === null) socket.read(0);
  else session.read(received, 0, received.length);
}
