import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client is listened to after our side has ended, in milliseconds, unless its listener says another time. */
const LINGER_MS = 2_000;

const DELAY = Symbol('edge-gateway.close-delay');
type Delayed = Socket & { [DELAY]?: number };

/** Sets how long {@link linger} listens to the client of this socket. */
export function setCloseDelay(socket: Socket, delayMs: number): void {
  (socket as Delayed)[DELAY] = delayMs;
}

/**
 * Makes the connection of a response close so that the client gets the whole response although it is still sending:
 * our side is ended first, what comes is read and dropped, and only when the client has ended too, or after the close
 * delay, the socket is closed (RFC 9112 9.6). Closed at once, a reset would overtake the response.
 */
export function lingerOnClose(res: ServerResponse): void {
  const { socket } = res;
  if (!socket) return;
  // Node calls this at the end of a response with `connection: close`.
  socket.destroySoon = () => linger(socket);
}

/** Ends our side of a connection, and closes it when the client has ended its own, or after the close delay. */
export function linger(socket: Socket): void {
  if (socket.destroyed) return;
  if (!socket.writableEnded) socket.end();
  const delayMs = Math.max((socket as Delayed)[DELAY] ?? LINGER_MS, 1);
  const timer = setTimeout(() => socket.destroy(), delayMs).unref();
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
  socket.resume();
}
