import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import type { ConnectionPool } from './pool.ts';

/** Response heads up to this size are taken, in bytes. */
const MAX_RESPONSE_HEAD_BYTES = 64 * 1024;

/** One connection to an endpoint. It carries one exchange at a time, and opens itself with the first. */
export class Connection {
  /** True once an exchange went over the open socket: the next one may find that the other side has just closed it. */
  reused = false;
  /** True while an exchange has it. */
  busy = false;
  open = false;
  /** How the socket broke, while that can matter to the exchange on it. */
  socketError: Error | undefined;
  readonly #client: Client;
  readonly #pool: ConnectionPool;
  #finished = true;
  #socket: Socket | undefined;
  #counted = { rx: 0, tx: 0 };

  constructor(pool: ConnectionPool) {
    this.#pool = pool;
    const { settings } = pool;
    this.#client = new Client(pool.origin, {
      connect: (target, callback) =>
        pool.connect(target, (...result) => {
          const socket = result[1];
          if (socket) this.#opened(socket);
          callback(...result);
        }),
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: settings.idleTimeoutMs,
      keepAliveMaxTimeout: settings.idleTimeoutMs,
      maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
      maxRequestsPerClient: settings.maxRequestsPerConnection,
    });
    this.#listen();
  }

  /** Sends a request. The handler's last callback has to be followed by {@link finished}. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#finished = false;
    this.#client.dispatch(options, handler);
    if (this.#finished && this.#client.stats.size === 0) this.#release();
  }

  /** Says that the exchange is over. The connection goes back to its pool as soon as it can carry another one. */
  finished(): void {
    this.#finished = true;
    this.#count();
  }

  destroy(): void {
    this.#client.destroy().catch(() => {});
  }

  #opened(socket: Socket): void {
    this.#socket = socket;
    this.#counted = { rx: 0, tx: 0 };
    this.socketError = undefined;
    this.reused = false;
    socket.once('error', (error) => (this.socketError = error));
  }

  #listen(): void {
    const { stats } = this.#pool;
    this.#client.on('connect', () => {
      this.open = true;
      stats.cxTotal.value++;
      stats.cxHttp1Total.value++;
      stats.cxActive.value++;
    });
    this.#client.on('disconnect', () => {
      if (!this.open) return;
      this.open = false;
      this.#count();
      stats.cxActive.value--;
      stats.cxDestroy.value++;
      if (!this.busy) this.#pool.remove(this);
    });
    this.#client.on('connectionError', () => stats.cxConnectFail.value++);
    this.#client.on('drain', () => this.#release());
    // undici reports here what went wrong inside a handler; unheard, it would end the process.
    (this.#client as NodeJS.EventEmitter).on('error', () => this.destroy());
  }

  #release(): void {
    if (!this.busy || !this.#finished) return;
    this.busy = false;
    this.reused = true;
    this.#pool.release(this);
  }

  #count(): void {
    if (!this.#socket) return;
    const { bytesRead, bytesWritten } = this.#socket;
    this.#pool.stats.cxRxBytes.value += bytesRead - this.#counted.rx;
    this.#pool.stats.cxTxBytes.value += bytesWritten - this.#counted.tx;
    this.#counted = { rx: bytesRead, tx: bytesWritten };
  }
}
