import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { startTimer } from '../time/timer.ts';

/** Default milliseconds to read from a client after our side has ended. */
const LINGER_MS = 2_000;

const DELAY = Symbol('edge-gateway.close-delay');
type Delayed = Socket & { [DELAY]?: number };

/** Sets how long {@link linger} reads from the client of this socket. */
export function setCloseDelay(socket: Socket, delayMs: number): void {
  (socket as Delayed)[DELAY] = delayMs;
}

/**
 * Closes the connection of a response so that the client receives the whole response although it is still sending:
 * our side is ended first, further input is read and dropped, and the socket is closed after the client has ended too, or after the
 * close delay (RFC 9112 9.6). If it were closed immediately, a reset would overtake the response.
 */
export function lingerOnClose(res: ServerResponse): void {
  const { socket } = res;
  if (!socket) return;
  // Node calls this at the end of a response with `connection: close`.
  socket.destroySoon = () => linger(socket);
}

/** Ends our side of a connection, and closes it after the client has ended its side, or after the close delay. */
export function linger(socket: Socket): void {
  if (socket.destroyed) return;
  if (!socket.writableEnded) socket.end();
  const delayMs = Math.max((socket as Delayed)[DELAY] ?? LINGER_MS, 1);
  const timer = startTimer(() => socket.destroy(), delayMs).unref();
  socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
  socket.resume();
}
