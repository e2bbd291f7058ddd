import type { Socket } from 'node:net';
import { ConnectionRecord } from './connection-record.ts';
import { proxiedOf } from './proxied.ts';
import { NO_METADATA, NO_RESULT, type RecordedRoute, type RequestRecord } from './record.ts';

/** A connection without a protocol of requests. Its values are read while it is open, because a closed socket no longer has them. */
class RawConnection extends ConnectionRecord {
  constructor(socket: Socket) {
    super({ socket, httpVersion: '' });
    void socket.remoteAddress;
  }

  override get protocol(): string {
    return '';
  }
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

/** What is known of a connection later. */
export interface ConnectionOutcome {
  readonly route: RecordedRoute;
  readonly result: Partial<RequestRecord['result']>;
}

/** Begins the record of an open connection; the returned function completes it. */
export function recordConnection(socket: Socket, startedAt: number): (outcome: ConnectionOutcome) => RequestRecord {
  const connection = new RawConnection(socket);
  const metadata = proxiedOf(socket)?.metadata ?? NO_METADATA;
  const since = performance.now();
  const head = { ...NO_REQUEST, clientAddress: connection.directAddress };
  return ({ route, result }) => {
    const { bytesRead: bytesReceived = 0, bytesWritten: bytesSent = 0 } = socket;
    const durationMs = performance.now() - since;
    const all = { ...NO_RESULT, bytesReceived, bytesSent, durationMs, ...result };
    return { startedAt, connection, head, route, result: all, metadata };
  };
}
