import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { plainAddress } from '@edge-gateway/core';

/** What a request record says of the connection, read when somebody asks. */
export class ConnectionRecord {
  readonly req: IncomingMessage;

  constructor(req: IncomingMessage) {
    this.req = req;
  }

  get protocol(): string {
    return `HTTP/${this.req.httpVersion}`;
  }

  get directAddress(): string {
    return plainAddress(this.req.socket.remoteAddress);
  }

  get directPort(): number {
    return this.req.socket.remotePort ?? 0;
  }

  get localAddress(): string {
    return plainAddress(this.req.socket.localAddress);
  }

  get localPort(): number {
    return this.req.socket.localPort ?? 0;
  }

  get tls(): boolean {
    return (this.req.socket as Partial<TLSSocket>).encrypted === true;
  }

  /** True when the client showed a certificate that was verified. */
  get clientVerified(): boolean {
    return this.tls && (this.req.socket as TLSSocket).authorized;
  }

  get serverName(): string {
    const name = (this.req.socket as Partial<TLSSocket>).servername;
    return typeof name === 'string' ? name : '';
  }

  get tlsVersion(): string {
    return (this.req.socket as Partial<TLSSocket>).getProtocol?.() ?? '';
  }
}
