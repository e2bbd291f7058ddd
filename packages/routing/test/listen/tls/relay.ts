import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A relay on 127.0.0.1 in front of a port. */
export interface Relay {
  readonly port: number;
  /** Sends bytes to the server, on the last connection, after those of the client. */
  inject(bytes: Buffer): void;
  close(): void;
}

/** Starts a relay that passes on the first bytes of each client, up to this number, one at a time. */
export async function startRelay(target: number, singleBytes = 0): Promise<Relay> {
  let last: Socket | undefined;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true });
    last = upstream;
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    upstream.pipe(client);
    void send(client, upstream, singleBytes);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    inject: (bytes) => void last!.write(bytes),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function send(client: Socket, upstream: Socket, singleBytes: number): Promise<void> {
  let left = singleBytes;
  try {
    for await (const chunk of client as AsyncIterable<Buffer>) {
      const single = Math.min(left, chunk.length);
      left -= single;
      for (const byte of chunk.subarray(0, single)) {
        upstream.write(Buffer.from([byte]));
        // Another turn, so that a server in this process has read it.
        await nextTurn();
        await nextTurn();
      }
      if (single < chunk.length) upstream.write(chunk.subarray(single));
    }
    upstream.end();
  } catch {
    upstream.destroy();
  }
}
