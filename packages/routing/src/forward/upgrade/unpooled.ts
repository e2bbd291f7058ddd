import type { Socket } from 'node:net';
import { localEndOf } from '../../format/local-end.ts';
import type { UnpooledUser } from '../../upstream/pool.ts';
import type { AttemptParts } from './upgrade-attempt.ts';

/** Opens a connection to the host that is not shared, and passes it on. Returns a function that cancels it. */
export function connectUnpooled(
  { cluster, host, socket: client, events }: AttemptParts,
  use: (socket: Socket) => void,
): () => void {
  const pool = cluster.pool(host);
  let isCancelled = false;
  const user: UnpooledUser = {
    client,
    onConnect(error, socket) {
      if (isCancelled) return void socket?.destroy();
      if (!socket) return events.onError(error!);
      events.onConnect(localEndOf(socket));
      use(socket);
    },
  };
  pool.acquireUnpooled(user);
  return () => {
    isCancelled = true;
    pool.cancel(user);
  };
}
