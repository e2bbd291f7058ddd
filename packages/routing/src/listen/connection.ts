import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { linger, setCloseDelay } from '@edge-gateway/core';
import { localEndOf } from '../format/connection-record.ts';
import type { ListenLimits } from './limits.ts';

/** One client connection, from its first byte (behind the handshake) to its end. */
export class Connection {
  readonly socket: Socket;
  readonly limits: ListenLimits;
  requests = 0;
  /** Requests whose response is not over. */
  inflight = 0;
  /** The newest request, until its response is over. */
  req: IncomingMessage | undefined;
  res: ServerResponse | undefined;
  /** True when the handler has that request, and counts it. */
  handled = false;
  /** Nothing more is served on it: a request was refused, or it is about to close. */
  refused = false;
  /** No further request after those under way. */
  closing = false;
  upgraded = false;
  /** Milliseconds of the monotonic clock at which its last response was over. */
  idleSince = performance.now();
  /** `bytesRead` at that time: more means that a request has begun to arrive. */
  idleBytes: number;

  constructor(socket: Socket, limits: ListenLimits) {
    this.socket = socket;
    this.limits = limits;
    this.idleBytes = socket.bytesRead;
  }
}

const CONNECTION = Symbol('edge-gateway.connection');
type Carrier = Socket & { [CONNECTION]?: Connection };

export function trackConnection(socket: Socket, limits: ListenLimits): Connection {
  const connection = new Connection(socket, limits);
  (socket as Carrier)[CONNECTION] = connection;
  localEndOf(socket);
  setCloseDelay(socket, limits.closeDelayMs);
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => (readsOn(connection) ? linger(socket) : destroySoon());
  return connection;
}

/** The connection of a socket, if it is one of a listener. */
export const connectionOf = (socket: object): Connection | undefined => (socket as Carrier)[CONNECTION];

/** False when a request must not be served: the connection closes with the response to one before it. */
export const takesRequests = ({ refused, res }: Connection): boolean => !refused && res?.shouldKeepAlive !== false;

/** Notes a request; its response keeps the connection from being idle until it closes. */
export function beginRequest(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
  connection.inflight++;
  connection.requests++;
  if (connection.requests === connection.limits.maxRequestsPerConnection) connection.closing = true;
  connection.req = req;
  connection.res = res;
  connection.handled = false;
  if (connection.closing) res.shouldKeepAlive = false;
  res.on('close', endRequest);
}

function endRequest(this: ServerResponse): void {
  const connection = connectionOf(this.req.socket);
  if (!connection) return;
  connection.inflight--;
  if (connection.res === this) connection.req = connection.res = undefined;
  connection.idleSince = performance.now();
  connection.idleBytes = connection.socket.bytesRead;
  if (connection.closing && connection.inflight === 0 && !connection.upgraded) connection.socket.destroySoon();
}

/** True when no request is under way and none has begun to arrive. */
export const isIdle = (connection: Connection): boolean =>
  connection.inflight === 0 && !connection.upgraded && connection.socket.bytesRead === connection.idleBytes;

/**
 * Lets a connection end: at once when it has been idle for `graceMs`, else with the response under way or the next one,
 * which says `connection: close`, or when the grace is over. A client that is about to send loses nothing by this.
 */
export function closeGracefully(connection: Connection, graceMs: number): void {
  connection.closing = true;
  if (connection.upgraded) return;
  if (connection.res && !connection.res.headersSent) connection.res.shouldKeepAlive = false;
  const rest = connection.idleSince + graceMs - performance.now();
  if (rest <= 0) closeIfIdle(connection);
  else setTimeout(closeIfIdle, rest, connection).unref();
}

function closeIfIdle(connection: Connection): void {
  if (isIdle(connection)) connection.socket.destroySoon();
}

const readsOn = ({ req }: Connection): boolean => req !== undefined && !req.complete;
