import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Not 127.0.0.1, instead of which Envoy reports an address of the machine in `x-forwarded-for`. */
const CLIENT_ADDRESS = '127.0.0.2';
let addresses = 0;

/** Returns an address that no other client has, so that its entries in a log can be found. */
export function ownAddress(): string {
  const number = addresses++;
  return `127.1.${number >> 8}.${number & 255}`;
}

/** Where a client connects to. */
export interface ClientTarget {
  readonly port: number;
  /** Address of the client. Default: that of all clients. */
  readonly localAddress?: string | undefined;
  /** The server name of TLS; without TLS if it is missing. */
  readonly serverName?: string | undefined;
}

/** A connection to a gateway. */
export interface ClientConnection {
  readonly socket: Socket;
  /** Event after which data can be sent. */
  readonly opened: 'connect' | 'secureConnect';
  /** Resets it, also below TLS. */
  readonly reset: () => void;
}

/** Connects to a gateway. With TLS, ALPN offers only this protocol. */
export function openClient(
  { port, serverName, localAddress = CLIENT_ADDRESS }: ClientTarget,
  protocol: 'http/1.1' | 'h2',
): ClientConnection {
  const address = { port, host: '127.0.0.1', localAddress, noDelay: true };
  const below = connectTcp({ ...address, allowHalfOpen: protocol === 'http/1.1' });
  const reset = (): void => void below.resetAndDestroy();
  if (serverName === undefined) return { socket: below, opened: 'connect', reset };
  const options = { servername: serverName, ALPNProtocols: [protocol], rejectUnauthorized: false };
  return { socket: connectTls({ socket: below.on('error', () => {}), ...options }), opened: 'secureConnect', reset };
}
