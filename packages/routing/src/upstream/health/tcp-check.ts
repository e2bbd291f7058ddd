import type { Socket } from 'node:net';

import type { HealthCheck } from './health-spec.ts';
import { activeFailure, networkFailure, type CheckResult, type Probe, type ProbeTarget } from './probe.ts';

type TcpCheck = NonNullable<HealthCheck['tcpHealthCheck']>;

/** Maximum number of received bytes in which the expected ones are searched. */
const MAX_RECEIVED = 64 * 1024;

const bytesOf = (block: { readonly text?: string } | undefined): Buffer => Buffer.from(block?.text ?? '', 'hex');

/**
 * Returns true if all blocks are in the data, in this order and without overlap; other bytes may be between them.
 */
export function containsBlocks(data: Buffer, blocks: readonly Buffer[]): boolean {
  let from = 0;
  for (const block of blocks) {
    const at = data.indexOf(block, from);
    if (at < 0) return false;
    from = at + block.length;
  }
  return true;
}

/** Compiles a check that connects, sends bytes and waits for others. */
export function compileTcpCheck(check: TcpCheck, reuse: boolean): (target: ProbeTarget) => Probe {
  const send = bytesOf(check.send);
  const receive = (check.receive ?? []).map(bytesOf);
  return ({ connect }) => new TcpProbe({ connect, send, receive, reuse: reuse && receive.length > 0 });
}

interface TcpParts extends Pick<ProbeTarget, 'connect'> {
  readonly send: Buffer;
  readonly receive: readonly Buffer[];
  readonly reuse: boolean;
}

class TcpProbe implements Probe {
  readonly #parts: TcpParts;
  #socket: Socket | undefined;
  #received = Buffer.alloc(0);
  #done: ((result: CheckResult) => void) | undefined;
  #run = 0;

  constructor(parts: TcpParts) {
    this.#parts = parts;
  }

  run(done: (result: CheckResult) => void): void {
    this.#done = done;
    const run = ++this.#run;
    if (this.#socket) return this.#begin(this.#socket);
    this.#parts.connect((error, socket) => {
      if (run !== this.#run) return void socket?.destroy();
      if (!socket) return this.#finish(networkFailure(error ?? new Error('no connection')));
      this.#use(socket);
      this.#begin(socket);
    });
  }

  cancel(): void {
    this.#run++;
    this.#done = undefined;
    this.close();
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    socket.on('data', (data: Buffer) => this.#read(data));
    socket.on('error', (error) => this.#lost(socket, error));
    socket.on('close', () => this.#lost(socket, new Error('the host closed the connection')));
  }

  #begin(socket: Socket): void {
    const { send, receive } = this.#parts;
    socket.ref();
    this.#received = Buffer.alloc(0);
    if (receive.length === 0) {
      // A peer that does not close its side must not keep the connection.
      socket.end(send, () => socket.destroy());
      this.#socket = undefined;
      return this.#finish('healthy');
    }
    if (send.length > 0) socket.write(send);
  }

  #read(data: Buffer): void {
    if (!this.#done) return this.close();
    this.#received = Buffer.concat([this.#received, data]);
    if (containsBlocks(this.#received, this.#parts.receive)) {
      if (this.#parts.reuse) this.#socket?.unref();
      else this.close();
      this.#finish('healthy');
    } else if (this.#received.length > MAX_RECEIVED) {
      this.close();
      this.#finish(activeFailure(`the expected bytes are not in the first ${MAX_RECEIVED}`));
    }
  }

  /** Between two checks the peer may close the connection: the next check then opens another. */
  #lost(socket: Socket, error: Error): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    socket.destroy();
    this.#finish(networkFailure(error));
  }

  #finish(result: CheckResult): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(result);
  }
}
