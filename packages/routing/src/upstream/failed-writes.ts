import type { Socket } from 'node:net';

/** Turns of the event loop without anything to read after which there is nothing: the first may be half over when it begins. */
const QUIET_TURNS = 2;

/**
 * Has a socket that cannot be written to any more, while `applies` says so, read what has come before it is destroyed. A server
 * that refuses an upload and closes at once has sent its response, and then the reset that makes the next write fail.
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

/** Calls `then` when nothing more is read from a socket, unless it is destroyed before. */
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
