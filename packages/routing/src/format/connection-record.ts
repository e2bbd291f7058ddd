import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { plainAddress, protocolOf, type ClientConnection } from '@edge-gateway/core';
import type { ConnectionCertificates } from '../route/options/client-certificate.ts';
import { localEndOf } from './local-end.ts';
import { proxiedOf } from './proxied.ts';
import { tlsFactsOf } from './tls-facts.ts';

/** The part of an `IncomingMessage` that describes its connection. */
type OnConnection = Pick<IncomingMessage, 'httpVersion' | 'socket'>;

const CONNECTION_ID = Symbol('edge-gateway.connectionId');
let connections = 0;

/** The connection of a request, read from its socket on demand. */
export class ConnectionRecord {
  readonly #req: OnConnection;
  #directAddress: string | undefined;

  constructor(req: OnConnection) {
    this.#req = req;
    // Formats read it after the client may have disconnected.
    localEndOf(req.socket);
    if (this.tls) tlsFactsOf(req.socket as TLSSocket);
  }

  get protocol(): string {
    return protocolOf(this.#req);
  }

  /** The peer of the connection, or the client that its PROXY header names. */
  get directAddress(): string {
    return (this.#directAddress ??= plainAddress(this.#req.socket.remoteAddress));
  }

  get directPort(): number {
    return this.#req.socket.remotePort ?? 0;
  }

  /** The peer of the connection, also behind a load balancer that sends a PROXY header. */
  get peerAddress(): string {
    return proxiedOf(this.#req.socket)?.peer.address ?? this.directAddress;
  }

  get peerPort(): number {
    return proxiedOf(this.#req.socket)?.peer.port ?? this.directPort;
  }

  get localAddress(): string {
    return localEndOf(this.#req.socket).address;
  }

  get localPort(): number {
    return localEndOf(this.#req.socket).port;
  }

  get tls(): boolean {
    return (this.#req.socket as Partial<TLSSocket>).encrypted === true;
  }

  /** True if the client presented a verified certificate. */
  get clientVerified(): boolean {
    return this.tls && (this.#req.socket as TLSSocket).authorized;
  }

  /** The certificates of a connection whose client presented a verified one. The same object for each request of a connection. */
  get certificates(): ConnectionCertificates | undefined {
    return this.tls ? tlsFactsOf(this.#req.socket as TLSSocket).certificates : undefined;
  }

  /** The server name of the TLS handshake; empty without one. */
  get serverName(): string {
    const name = (this.#req.socket as Partial<TLSSocket>).servername;
    return typeof name === 'string' ? name : '';
  }

  /** Number of the connection, in the order in which they were first asked for it. */
  get id(): number {
    const socket: Socket & { [CONNECTION_ID]?: number } = this.#req.socket;
    return (socket[CONNECTION_ID] ??= ++connections);
  }

  get tlsCipher(): string {
    return this.tls ? tlsFactsOf(this.#req.socket as TLSSocket).cipher : '';
  }

  /** The verified certificate of the client. */
  get clientCertificate(): X509Certificate | undefined {
    return this.certificates?.peer;
  }

  get tlsVersion(): string {
    return this.tls ? tlsFactsOf(this.#req.socket as TLSSocket).version : '';
  }
}

/** The client of a request and its connection, as concerns see them. */
export class ClientView extends ConnectionRecord implements ClientConnection {
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';

  constructor(req: OnConnection, { clientAddress, scheme }: Pick<ClientConnection, 'clientAddress' | 'scheme'>) {
    super(req);
    this.clientAddress = clientAddress;
    this.scheme = scheme;
  }

  get clientPort(): number {
    return this.clientAddress === this.directAddress ? this.directPort : 0;
  }
}
