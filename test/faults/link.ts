import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A path for TCP between the planes that can be cut, slowed down, or go silent. */
export class Link {
  port = 0;
  mode: 'open' | 'cut' | 'slow' | 'silent' = 'open';
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(target: () => number) {
    this.#server = createServer((near) => {
      if (this.mode === 'cut') return near.destroy();
      const far = connect(target(), '127.0.0.1');
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on('data', (bytes) => this.#pass(from, to, bytes));
        from.on('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
        from.on('error', () => {});
      }
      return undefined;
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  cut(): void {
    this.mode = 'cut';
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #pass(from: Socket, to: Socket, bytes: Buffer): void {
    if (this.mode === 'silent') return;
    if (this.mode === 'open') return void to.write(bytes);
    from.pause();
    setTimeout(() => {
      if (!to.destroyed) to.write(bytes);
      from.resume();
    }, 300);
  }
}
