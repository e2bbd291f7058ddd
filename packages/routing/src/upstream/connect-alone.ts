import type { Socket } from 'node:net';
import type { ConnectionPool } from './pool.ts';

/** Opens a connection like those of the pool, but never shared or kept, and counts it with them. */
export function connectAlone(pool: ConnectionPool, callback: (error: Error | null, socket?: Socket) => void): void {
  const { stats } = pool;
  pool.connect((error, socket) => {
    if (!socket) {
      stats.cxConnectFail.value++;
      return callback(error);
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
