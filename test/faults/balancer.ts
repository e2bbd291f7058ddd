import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Distributes connections like a load balancer without health checks: a target that refuses a connection is skipped. */
export interface Balancer {
  readonly url: string;
  /** Connections that found another target than the first one, because that one refused them. */
  readonly moved: number;
  /** Connections that no target accepted. */
  readonly refused: number;
  /** Number of open connections to this target. */
  openTo(port: number): number;
  close(): Promise<void>;
}

/** Starts a balancer on a free port; `ports` returns the ports of its targets. */
export async function startBalancer(ports: () => readonly number[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const targets = new Set<Socket>();
  let turn = 0;
  let moved = 0;
  let refused = 0;

  /** Connects to the first target that accepts. Nothing of the client was read before. */
  async function open(): Promise<Socket | undefined> {
    const all = ports();
    const first = turn++;
    for (let i = 0; i < all.length; i++) {
      const socket = connect({ port: all[(first + i) % all.length]!, host: '127.0.0.1', allowHalfOpen: true });
      try {
        await once(socket, 'connect');
        if (i > 0) moved++;
        return socket;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') return undefined;
      }
    }
    refused++;
    return undefined;
  }

  async function join(client: Socket): Promise<void> {
    sockets.add(client);
    client.on('error', () => {}).on('close', () => sockets.delete(client));
    const target = await open();
    if (!target) return void client.destroy();
    targets.add(target);
    target.on('error', () => {}).on('close', () => targets.delete(target));
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      from.pipe(to);
      from.on('close', () => from.errored && to.destroy());
    }
    if (client.destroyed) target.destroy();
  }

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => void join(client));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get moved() {
      return moved;
    },
    get refused() {
      return refused;
    },
    openTo: (port) => [...targets].filter(({ remotePort }) => remotePort === port).length,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
