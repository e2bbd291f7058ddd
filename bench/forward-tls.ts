// What TLS connections cost in Node.js itself, in a process of its own: `node forward-tls.ts NAME KEY CERTIFICATE`.
import { readFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

const BODY = Buffer.alloc(1024, 'k');
const RESPONSE = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n`), BODY]);

const SERVERS = {
  /** Responds to whatever it receives. */
  'node-tls': (options: TlsOptions) =>
    createTlsServer(options, (socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write(RESPONSE));
    }),
  'node-https': (options: TlsOptions) => createHttpsServer(options, (_req, res) => res.end(BODY)),
};

const [name, key, certificate] = process.argv.slice(2);
const server = SERVERS[name as keyof typeof SERVERS]({
  key: readFileSync(key!),
  cert: readFileSync(certificate!),
  ALPNProtocols: ['http/1.1'],
});
server.on('tlsClientError', () => {});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
