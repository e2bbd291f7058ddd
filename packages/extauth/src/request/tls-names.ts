import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { principalOf, type TlsNames } from '@edge-gateway/core';

const known = new WeakMap<Socket, TlsNames>();

/** Returns the names of a TLS connection, the same object for all its requests; `undefined` without TLS. */
export function tlsNamesOf(socket: Socket): TlsNames | undefined {
  if (!('encrypted' in socket)) return undefined;
  let names = known.get(socket);
  if (!names) known.set(socket, (names = read(socket as TLSSocket)));
  return names;
}

function read(socket: TLSSocket): TlsNames {
  return {
    serverName: typeof socket.servername === 'string' ? socket.servername : '',
    client: nameOf(socket.authorized ? socket.getPeerX509Certificate?.() : undefined),
    server: nameOf(socket.getX509Certificate?.()),
  };
}

function nameOf(certificate: X509Certificate | undefined): string {
  return certificate ? principalOf(certificate) : '';
}
