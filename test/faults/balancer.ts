import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Distributes connections like a load balancer without health checks: a target that refuses a connection is skipped. */
export interface Balancer {
  readonly url: string;
  /** Connections that found another target than the first one, because that one refused them. */
  readonly moved: number;
  /** Connections that no target accepted. */
  readonly refused: number;
  /** Number of open connections to the target at this address. */
  openTo(host: string): number;
  close(): Promise<void>;
}

/** Where a target listens. Nothing else may listen there while it does not. */
export interface BalancerTarget {
  readonly host: string;
  readonly port: number;
}

/** Starts a balancer on a free port; `targets` returns its targets. */
export async function startBalancer(targets: () => readonly BalancerTarget[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const joined = new Set<Socket>();
  let turn = 0;
  let moved = 0;
  let refused = 0;

  /** Connects to the first target that accepts. Nothing of the client was read before. */
  async function open(): Promise<Socket | undefined> {
    const all = targets();
    const first = turn++;
    for (let i = 0; i < all.length; i++) {
      const socket = connect({ ...all[(first + i) % all.length]!, allowHalfOpen: true });
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
    joined.add(target);
    target.on('error', () => {}).on('close', () => joined.delete(target));
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
    openTo: (host) => [...joined].filter(({ remoteAddress }) => remoteAddress === host).length,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
