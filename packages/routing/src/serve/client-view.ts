import type { ClientConnection } from '@edge-gateway/core';
import type { RecordedConnection } from '../format/record.ts';
import type { DownstreamHead } from '../route/downstream-head.ts';

/** The client of a request and its connection, as concerns see them. */
export class ClientView implements ClientConnection {
  readonly #connection: RecordedConnection;
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';

  constructor(connection: RecordedConnection, { clientAddress, scheme }: DownstreamHead) {
    this.#connection = connection;
    this.clientAddress = clientAddress;
    this.scheme = scheme;
  }

  get clientPort(): number {
    const { directAddress, directPort } = this.#connection;
    return this.clientAddress === directAddress ? directPort : 0;
  }

  get protocol(): string {
    return this.#connection.protocol;
  }

  get localAddress(): string {
    return this.#connection.localAddress;
  }

  get localPort(): number {
    return this.#connection.localPort;
  }
}
