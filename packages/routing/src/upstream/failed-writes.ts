import type { Socket } from 'node:net';

/** Turns of the event loop without data after which none is expected: the first one may be incomplete. */
const QUIET_TURNS = 2;

/**
 * After a failed write, reads received data before the socket is destroyed, as long as `applies` returns true. A server
 * that rejects an upload and closes immediately has sent its response, followed by a reset that makes the next write fail.
 */
export function readBeforeFailing(socket: Socket, applies: () => boolean): void {
  const destroy = socket.destroy.bind(socket);
  let failed = false;
  socket.destroy = (error) => {
    if (!isFailedWrite(error) || !(failed || applies())) return destroy(error);
    if (!failed) whenQuiet(socket, () => destroy(error));
    failed = true;
    return socket;
  };
}

function isFailedWrite(error: NodeJS.ErrnoException | undefined): boolean {
  return error?.syscall === 'write' && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}

/** Calls `then` when no more data is read from a socket, unless it is destroyed before. */
function whenQuiet(socket: Socket, then: () => void): void {
  let read = socket.bytesRead;
  let quiet = 0;
  const look = (): void => {
    if (socket.destroyed) return;
    quiet = socket.bytesRead === read ? quiet + 1 : 0;
    read = socket.bytesRead;
    if (quiet < QUIET_TURNS) setImmediate(look);
    else then();
  };
  setImmediate(look);
}
