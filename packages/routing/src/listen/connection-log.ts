import type { DropArgument, Socket } from 'node:net';
import { ConnectionRecord } from '../format/connection-record.ts';
import { proxiedOf } from '../format/proxied.ts';
import { NO_METADATA, NO_RESULT, NO_ROUTE, type RequestRecord } from '../format/record.ts';

/** Begins the entry of a connection; the returned function writes it, with the reason if the listener closed the connection. */
export type OnConnection = (socket: Socket) => (termination: string) => void;

/** Writes the entries of connections of a listener. */
export interface ConnectionLog {
  readonly opened: OnConnection;
  /** A connection that was closed immediately because of the limit. */
  readonly dropped: (address: DropArgument | undefined) => void;
}

/** A connection without a protocol of requests. Its values are read while it is open, because a closed socket no longer has them. */
class LoggedConnection extends ConnectionRecord {
  constructor(socket: Socket) {
    super({ socket, httpVersion: '' });
    void socket.remoteAddress;
  }

  override get protocol(): string {
    return '';
  }
}

export function createConnectionLog(now: () => number, write: (record: RequestRecord) => void): ConnectionLog {
  function begin(socket: Socket): (termination: string) => void {
    const connection = new LoggedConnection(socket);
    const since = performance.now();
    const startedAt = now();
    const metadata = proxiedOf(socket)?.metadata ?? NO_METADATA;
    return (termination) => {
      const { bytesRead: bytesReceived = 0, bytesWritten: bytesSent = 0 } = socket;
      const head = { ...NO_REQUEST, clientAddress: connection.directAddress };
      const durationMs = performance.now() - since;
      const result = { ...NO_RESULT, bytesReceived, bytesSent, durationMs, termination };
      write({ startedAt, connection, head, route: NO_ROUTE, result, metadata });
    };
  }
  return { opened: begin, dropped: (address) => begin({ ...address } as Socket)('connection_limit') };
}

const NO_REQUEST = {
  method: '',
  authority: '',
  path: '',
  pathname: '',
  originalPath: '',
  headers: [] as readonly string[],
  requestId: '',
};
