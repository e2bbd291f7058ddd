import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { readMessage, type Message } from '../envoy/message.ts';

/** An upstream that acts on its sockets as told, request by request. */
export interface RawUpstream {
  readonly port: number;
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** Starts an upstream; `act` gets each request head once it is complete, with the bytes of the body so far. */
export async function startRawUpstream(act: (socket: Socket, head: string) => void): Promise<RawUpstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.setEncoding('latin1').on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end);
        text = text.slice(end + 4);
        act(socket, head);
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A client with one connection. */
export interface RawClient {
  readonly socket: Socket;
  /** Sends bytes and returns the response; `undefined` if the connection closes before its head. */
  ask(bytes: string): Promise<Message | undefined>;
}

/** Connects to a port of 127.0.0.1. */
export async function openClient(port: number, host = '127.0.0.1'): Promise<RawClient> {
  const socket = connect({ port, host, noDelay: true });
  socket.setEncoding('latin1').on('error', () => {});
  await once(socket, 'connect');
  return {
    socket,
    ask(bytes) {
      const { promise, resolve } = Promise.withResolvers<Message | undefined>();
      const method = bytes.slice(0, bytes.indexOf(' '));
      let text = '';
      const finish = (ended: boolean): void => {
        const received = readMessage(text, { method, ended });
        if (!received && !ended) return;
        socket.off('data', onData).off('close', onClose);
        resolve(received?.message);
      };
      const onData = (chunk: string): void => ((text += chunk), finish(false));
      const onClose = (): void => finish(true);
      socket.on('data', onData).on('close', onClose);
      if (socket.destroyed) onClose();
      else socket.write(bytes, 'latin1');
      return promise;
    },
  };
}

/** The status of a response; 0 without one. */
export function statusOf(message: Message | undefined): number {
  return Number(message?.startLine.split(' ')[1] ?? 0);
}

/** Sends one request on a connection of its own. */
export async function askOnce(port: number, bytes: string): Promise<Message | undefined> {
  const client = await openClient(port);
  try {
    return await client.ask(bytes);
  } finally {
    client.socket.destroy();
  }
}

const CHUNK = 'x'.repeat(64 * 1024);

/** Sends a response of so many bytes, a multiple of 64 KiB, as fast as they are read; `sent` is called with the bytes of each part. */
export function pourResponse(socket: Socket, size: number, sent: (bytes: number) => void): void {
  let left = size / CHUNK.length;
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
  const pour = (): void => {
    while (left > 0 && !socket.destroyed) {
      left--;
      sent(CHUNK.length);
      if (!socket.write(CHUNK)) return void socket.once('drain', pour);
    }
  };
  pour();
}
