import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';

/**
 * Begins the TLS handshake of an accepted connection. A client that ends its side during the handshake is disconnected at once, and reported
 * by `tlsClientError`; without this it would keep its connection until the handshake times out.
 */
export function beginHandshake(server: Server, socket: Socket): void {
  // The TLS socket takes this over from its connection.
  socket.allowHalfOpen = false;
  server.emit('connection', socket);
}

/** After the handshake, a client may end its side and still receive, as without TLS. */
export function completeHandshake(socket: TLSSocket): void {
  socket.allowHalfOpen = true;
}
