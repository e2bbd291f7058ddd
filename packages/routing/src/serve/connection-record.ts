import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { plainAddress } from '@edge-gateway/core';
import type { RecordedConnection } from '../format/record.ts';
import type { ConnectionFacts } from '../route/downstream-head.ts';

/** The part of an `IncomingMessage` that says something of its connection. */
type OnConnection = Pick<IncomingMessage, 'httpVersion' | 'socket'>;

/** The connection of a request, read from its socket when it is needed. */
export class ConnectionRecord implements RecordedConnection, ConnectionFacts {
  readonly #req: OnConnection;

  constructor(req: OnConnection) {
    this.#req = req;
  }

  get protocol(): string {
    return `HTTP/${this.#req.httpVersion}`;
  }

  get directAddress(): string {
    return plainAddress(this.#req.socket.remoteAddress);
  }

  get directPort(): number {
    return this.#req.socket.remotePort ?? 0;
  }

  get localAddress(): string {
    return plainAddress(this.#req.socket.localAddress);
  }

  get localPort(): number {
    return this.#req.socket.localPort ?? 0;
  }

  get tls(): boolean {
    return (this.#req.socket as Partial<TLSSocket>).encrypted === true;
  }

  /** True when the client showed a certificate that was verified. */
  get clientVerified(): boolean {
    return this.tls && (this.#req.socket as TLSSocket).authorized;
  }

  get serverName(): string {
    const name = (this.#req.socket as Partial<TLSSocket>).servername;
    return typeof name === 'string' ? name : '';
  }

  get tlsVersion(): string {
    return (this.#req.socket as Partial<TLSSocket>).getProtocol?.() ?? '';
  }
}
