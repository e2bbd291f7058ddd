import type { TLSSocket } from 'node:tls';
import type { ConnectionCertificates } from '../route/options/client-certificate.ts';

/** What a TLS handshake agreed on. */
export interface TlsFacts {
  readonly version: string;
  /** Name of the cipher suite in RFCs. */
  readonly cipher: string;
  /** The certificates, if the client presented a verified one. */
  readonly certificates: ConnectionCertificates | undefined;
}

const FACTS = Symbol('edge-gateway.tlsFacts');
const NO_HANDSHAKE: TlsFacts = { version: '', cipher: '', certificates: undefined };

/** Returns the facts of a TLS connection and caches them: a closed one no longer has them. */
export function tlsFactsOf(socket: TLSSocket & { [FACTS]?: TlsFacts }): TlsFacts {
  const known = socket[FACTS];
  if (known) return known;
  const version = socket.getProtocol?.() ?? '';
  // A handshake that is in progress has an unknown version.
  if (!version.startsWith('TLS')) return NO_HANDSHAKE;
  const cipher = socket.getCipher?.()?.standardName ?? '';
  return (socket[FACTS] = { version, cipher, certificates: certificatesOf(socket) });
}

function certificatesOf(socket: TLSSocket): ConnectionCertificates | undefined {
  const peer = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  return peer && { peer, own: socket.getX509Certificate() };
}
