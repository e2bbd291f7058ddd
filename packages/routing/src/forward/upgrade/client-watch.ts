import type { Socket } from 'node:net';
import { hasEnded } from '../../tcp/has-ended.ts';

/** Calls `onGone` if the client disconnects, until the returned function is called. A connection without a reader does not report it. */
export function watchClient(socket: Socket, onGone: () => void): () => void {
  const peek = (): void => {
    socket.read(0);
    // The end is only reported when what was sent before it is read.
    if (hasEnded(socket)) onGone();
  };
  socket.on('readable', peek).on('end', onGone).on('close', onGone);
  if (hasEnded(socket)) onGone();
  return () => void socket.off('readable', peek).off('end', onGone).off('close', onGone);
}
