import type { ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hasEnded } from './has-ended.ts';

/**
 * Joins a client with a connection or stream to an upstream: each direction ends independently, and a reset of one side resets the other. If `endsAlone` returns
 * true, the end of the upstream does not end the client.
 */
export function join(client: Duplex, upstream: Socket | ClientHttp2Stream, endsAlone = (): boolean => false): void {
  client.on('error', () => {});
  upstream.on('error', () => {});
  client.once('close', () => endAfter(upstream, client));
  upstream.once('close', () => endsAlone() || endAfter(client, upstream));
  client.pipe(upstream);
  // Node ends a stream that its peer has reset like a complete one.
  let isCut = false;
  upstream.once('aborted', () => (isCut = !hasEnded(upstream)));
  upstream.once('end', () => {
    if (endsAlone()) return;
    if (isCut || isReset(upstream)) abort(client, upstream);
    else client.end();
  });
  upstream.pipe(client, { end: false });
  if (client.destroyed) upstream.destroy();
}

/** Ends a connection after its peer has closed. Data that the peer sent before is still delivered. */
function endAfter(connection: Duplex, other: Duplex): void {
  if (connection.destroyed) return;
  if (!other.readableEnded || isReset(other)) return abort(connection, other);
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
