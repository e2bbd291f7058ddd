import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy whose connections can go silent, as those to a process that hangs. */
export interface PausableProxy {
  readonly port: number;
  /** Connections that were opened. */
  readonly connections: number;
  /** Stops reading and writing on the connections that are open; new ones work. */
  silence(): void;
  close(): void;
}

/** Starts a proxy in front of a port of this host. */
export async function startPausableProxy(originPort: number): Promise<PausableProxy> {
  const sockets: Socket[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    const origin = connect(originPort, '127.0.0.1');
    sockets.push(socket, origin);
    for (const each of [socket, origin]) each.on('error', () => {});
    socket.pipe(origin).pipe(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
