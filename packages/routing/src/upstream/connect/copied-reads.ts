import type { OnReadOpts, Socket } from 'node:net';

/**
 * Passes received data to `onread` for a socket that Node cannot read into its buffer: TLS over another socket. Costs a copy. Data
 * that arrives while the socket is paused waits, as it does with Node's own `onread`.
 */
export function copyReads(socket: Socket, { buffer, callback }: OnReadOpts): void {
  socket.on('data', (chunk: Buffer) => {
    for (let start = 0; start < chunk.length && !socket.destroyed;) {
      const target = (typeof buffer === 'function' ? buffer() : buffer) as Buffer;
      const length = chunk.copy(target, 0, start);
      start += length;
      callback(length, target);
    }
  });
}
