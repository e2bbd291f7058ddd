import type { Socket } from 'node:net';
import { setCloseDelay } from '@edge-gateway/core';
import { readInto } from '../http1/user-buffer.ts';
import type { ListenLimits } from '../limits.ts';
import { FrameSession, type SessionObserver } from './frame-session.ts';

/** Frames that a client may send although they are invalid or empty, per connection. */
const MAX_INVALID_FRAMES = 100;
/** Fields beyond the limit that are still counted, so that the response can say so; cookies arrive in parts. */
const MORE_FIELDS = 256;

/** Starts HTTP/2 on the connection of a client; `webSockets` if clients may open them (RFC 8441). */
export function openSession(
  socket: Socket,
  observer: SessionObserver,
  limits: ListenLimits,
  webSockets: boolean,
): FrameSession {
  setCloseDelay(socket, limits.closeDelayMs);
  const session = new FrameSession(socket, observer, {
    streamWindow: limits.initialStreamWindowBytes,
    connectionWindow: limits.initialConnectionWindowBytes,
    // Twice the limit, so that the check can distinguish a long target from long headers.
    maxHeaderListBytes: 2 * Math.max(limits.maxHeadBytes, limits.maxTargetBytes),
    maxHeaderFields: 2 * limits.maxHeaders + MORE_FIELDS,
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
