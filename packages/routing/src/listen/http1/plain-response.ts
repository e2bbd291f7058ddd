import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The part of a response that its server sets or reads. */
interface Internals {
  _keepAliveTimeout: number;
  _maxRequestsPerSocket: number;
  /** True if the connection closes with this response. */
  _last: boolean;
  _closed: boolean;
}

/** A response that a server of `node:http` could have created. */
export type PlainResponse = ServerResponse & Internals;
type Carrier = Socket & { _httpMessage?: ServerResponse | null };

/** The declared type lacks the second parameter, which its server passes. */
const Constructor = ServerResponse as unknown as new (req: IncomingMessage, options: object) => PlainResponse;

/** Creates the response to a request whose connection has no other response in progress. */
export function createResponse(req: IncomingMessage, socket: Socket, keepAliveTimeoutMs: number): PlainResponse {
  const res = new Constructor(req, { highWaterMark: socket.writableHighWaterMark });
  res._keepAliveTimeout = keepAliveTimeoutMs;
  res._maxRequestsPerSocket = 0;
  return res;
}

/** Lets a response write to its connection, without the listeners of `assignSocket`. */
export function attachResponse(res: PlainResponse, socket: Socket): void {
  (socket as Carrier)._httpMessage = res;
  (res as { socket: Socket | null }).socket = socket;
}
