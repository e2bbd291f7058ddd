import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client is listened to after a final answer in the middle of its upload, in milliseconds. */
const LINGER_MS = 2_000;

/**
 * Makes the connection of a response close so that the client gets the whole response although it is still sending:
 * our side is ended first, what comes is read and dropped, and only when the client has ended too, or after two
 * seconds, the socket is closed (RFC 9112 9.6). Closed at once, a reset would overtake the response.
 */
export function lingerOnClose(res: ServerResponse): void {
  const { socket } = res;
  if (!socket) return;
  // Node calls this at the end of a response with `connection: close`.
  socket.destroySoon = () => linger(socket);
}

/** Ends our side of a connection, and closes it when the client has ended its own, or after two seconds. */
export function linger(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
  socket.resume();
}
