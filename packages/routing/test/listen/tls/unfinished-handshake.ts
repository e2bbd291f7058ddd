import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

/** Returns the ClientHello that Node sends with these options. */
export async function recordClientHello(options: ConnectionOptions): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ ...options, port, host: '127.0.0.1' });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  client.destroy();
  server.close();
  return bytes;
}

/** Handshakes that end after nothing, a part of the ClientHello, and the ClientHello, each with the end and the reset of the client. */
export async function leaveHandshakes(port: number, servername: string): Promise<void> {
  const hello = await recordClientHello({ servername });
  for (const bytes of [Buffer.alloc(0), hello.subarray(0, 100), hello]) {
    for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => {});
      await once(socket, 'connect');
      if (bytes.length > 0) socket.write(bytes);
      // The server has begun the handshake.
      if (bytes === hello) await once(socket, 'data');
      const closed = once(socket, 'close');
      socket.resume();
      socket[leave]();
      await closed;
    }
  }
}
