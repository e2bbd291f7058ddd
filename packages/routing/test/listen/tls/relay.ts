import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How a relay passes on what clients send. */
export interface RelayOptions {
  /** Number of first bytes that it passes on one at a time. */
  readonly singleBytes?: number;
  /** What follows the first packet is held until this resolves. */
  readonly held?: Promise<unknown>;
}

/** A relay on 127.0.0.1 in front of a port. */
export interface Relay {
  readonly port: number;
  /** Number of bytes that the server has sent. */
  received(): number;
  /** Sends bytes to the server, on the last connection, after those of the client. */
  inject(bytes: Buffer): void;
  close(): void;
}

export async function startRelay(target: number, options: RelayOptions = {}): Promise<Relay> {
  let last: Socket | undefined;
  let received = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true });
    last = upstream;
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => {}));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    upstream.on('data', (chunk: Buffer) => (received += chunk.length)).pipe(client);
    void send(client, upstream, options);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received: () => received,
    inject: (bytes) => void last!.write(bytes),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function send(client: Socket, upstream: Socket, { singleBytes = 0, held }: RelayOptions): Promise<void> {
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
      await held;
    }
    upstream.end();
  } catch {
    upstream.destroy();
  }
}
