import type { ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Joins a client and a tunnel: each direction closes independently, and a reset of one side resets the other. */
export function join(client: Duplex, tunnel: Duplex): void {
  client.on('error', () => {});
  tunnel.on('error', () => {});
  client.once('close', () => endAfter(tunnel, client));
  tunnel.once('close', () => endAfter(client, tunnel));
  client.pipe(tunnel);
  tunnel.pipe(client);
  if (client.destroyed) tunnel.destroy();
}

/** Ends a connection after its peer has closed. Data that the peer sent before is still delivered. */
function endAfter(connection: Duplex, other: Duplex): void {
  if (connection.destroyed) return;
  if (other.errored || !other.readableEnded) return abort(connection, other);
  if ('destroySoon' in connection) (connection as Socket).destroySoon();
  else (connection as ClientHttp2Stream).close();
}

function abort(connection: Duplex, other: Duplex): void {
  const canReset = 'resetAndDestroy' in connection && !('encrypted' in connection);
  if (other.errored && canReset) (connection as Socket).resetAndDestroy();
  else connection.destroy();
}
