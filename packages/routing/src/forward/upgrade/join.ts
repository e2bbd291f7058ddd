import type { ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Tunnel } from './upgrade-attempt.ts';
import { hasEnded } from './client-watch.ts';

/** Joins a client and a tunnel: each direction closes independently, and a reset of one side resets the other. */
export function join(client: Duplex, tunnel: Tunnel): void {
  client.on('error', () => {});
  tunnel.on('error', () => {});
  client.once('close', () => endAfter(tunnel, client));
  tunnel.once('close', () => endAfter(client, tunnel));
  client.pipe(tunnel);
  // Node ends a stream that its peer has reset like a complete one.
  let isCut = false;
  tunnel.once('aborted', () => (isCut = !hasEnded(tunnel)));
  tunnel.once('end', () => (isCut || isReset(tunnel) ? abort(client, tunnel) : client.end()));
  tunnel.pipe(client, { end: false });
  if (client.destroyed) tunnel.destroy();
}

/** Ends a connection after its peer has closed. Data that the peer sent before is still delivered. */
function endAfter(connection: Duplex, other: Duplex): void {
  if (connection.destroyed) return;
  if (other.errored || !other.readableEnded || isReset(other)) return abort(connection, other);
  if ('destroySoon' in connection) (connection as Socket).destroySoon();
  else (connection as ClientHttp2Stream).close();
}

function abort(connection: Duplex, other: Duplex): void {
  // `close` would end the stream before it resets it, so that a part could be mistaken for the whole.
  if (isStream(connection)) return void connection.destroy(other.errored ?? new Error('the tunnel was closed'));
  const canReset = 'resetAndDestroy' in connection && !('encrypted' in connection);
  if (other.errored && canReset) (connection as Socket).resetAndDestroy();
  else connection.destroy();
}

const isStream = (connection: Duplex): connection is ClientHttp2Stream => 'rstCode' in connection;

const isReset = (connection: Duplex): boolean => isStream(connection) && (connection.rstCode ?? 0) !== 0;
