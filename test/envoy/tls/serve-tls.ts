import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createServer } from 'node:tls';
import type { Certificates } from '../../parts/certificates.ts';

/**
 * Returns a function that accepts TLS on a connection, for one protocol of ALPN. `serve` receives the connection and the one below it, which can
 * be reset.
 */
export function acceptTls(
  { cert, key }: Certificates,
  protocol: 'http/1.1' | 'h2',
  serve: (socket: Socket, below: Socket) => void,
): (below: Socket) => void {
  const connections = new Map<number, Socket>();
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key), ALPNProtocols: [protocol] });
  server.on('secureConnection', (socket) => serve(socket, connections.get(socket.remotePort!)!));
  return (below) => {
    const port = below.remotePort!;
    connections.set(port, below);
    below.on('error', () => {}).once('close', () => connections.delete(port));
    server.emit('connection', below);
  };
}
