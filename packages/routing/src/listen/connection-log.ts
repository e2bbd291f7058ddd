import type { DropArgument, Socket } from 'node:net';
import { recordConnection } from '../format/raw-connection.ts';
import { NO_ROUTE, type RequestRecord } from '../format/record.ts';

/** Begins the entry of a connection; the returned function writes it, with the reason if the listener closed the connection. */
export type OnConnection = (socket: Socket) => (termination: string) => void;

/** Writes the entries of connections of a listener. */
export interface ConnectionLog {
  readonly opened: OnConnection;
  /** A connection that was closed immediately because of the limit. */
  readonly dropped: (address: DropArgument | undefined) => void;
}

export function createConnectionLog(now: () => number, write: (record: RequestRecord) => void): ConnectionLog {
  function begin(socket: Socket): (termination: string) => void {
    const complete = recordConnection(socket, now());
    return (termination) => write(complete({ route: NO_ROUTE, result: { termination } }));
  }
  return { opened: begin, dropped: (address) => begin({ ...address } as Socket)('connection_limit') };
}
