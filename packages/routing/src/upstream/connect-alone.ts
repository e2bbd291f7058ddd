import type { Socket } from 'node:net';
import type { Endpoint } from '@edge-gateway/core';
import type { ConnectionPool } from './pool.ts';

/** Opens a connection like those of the pool, but never shared or kept, and counts it with them. */
export function connectAlone(
  pool: ConnectionPool,
  { address, port }: Endpoint,
  callback: (error: Error | null, socket?: Socket) => void,
): void {
  const { stats } = pool;
  const { protocol } = new URL(pool.origin);
  pool.connect({ hostname: address, protocol, port: String(port) }, (error, socket) => {
    if (!socket) {
      stats.cxConnectFail.value++;
      return callback(error ?? new Error('there is no connection'));
    }
    stats.cxTotal.value++;
    stats.cxHttp1Total.value++;
    stats.cxActive.value++;
    socket.once('close', () => {
      stats.cxActive.value--;
      stats.cxDestroy.value++;
    });
    callback(null, socket);
  });
}
