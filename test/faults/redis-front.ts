import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** What stands between the gateways and Redis: it can be slow, point elsewhere, or say that the data has moved. */
export interface RedisFront {
  /** `host:port`. */
  readonly host: string;
  /** What each answer is held back. */
  delayMs: number;
  /** Given in place of every answer, such as `-MOVED 866 10.0.0.1:6379`. */
  says: string | undefined;
  /** Where connections go from now on; those there are stay. */
  port: number;
  close(): Promise<void>;
}

/** Starts it in front of a Redis on this machine. */
export async function startRedisFront(port: number): Promise<RedisFront> {
  const sockets = new Set<Socket>();
  const front = { delayMs: 0, says: undefined as string | undefined, port };
  const server = createServer((client) => {
    const redis = connect(front.port, '127.0.0.1');
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => (sockets.delete(socket), client.destroy(), redis.destroy()));
    }
    client.on('data', (chunk: Buffer) => {
      if (front.says === undefined) redis.write(chunk);
      // Each command is an array; what it says is of no interest here.
      else client.write(`${front.says}\r\n`.repeat(chunk.toString('latin1').match(/\*\d+\r\n\$/g)?.length ?? 0));
    });
    let last = Promise.resolve();
    redis.on('data', (chunk: Buffer) => {
      const due = performance.now() + front.delayMs;
      last = last.then(async () => {
        const left = due - performance.now();
        if (left > 0) await wait(left);
        client.write(chunk);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(front, {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}
