import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { linger, setCloseDelay } from '@edge-gateway/core';
import { Http2Response } from './http2/http2-response.ts';
import { UpgradeStream } from './http2/upgrade-stream.ts';
import type { ListenLimits } from './limits.ts';

const NONE: readonly ServerResponse[] = [];
/**
 * Maximum number of requests in progress on a connection, as with the streams of HTTP/2: a client that sends more without waiting for
 * responses has to send the rest again on another connection.
 */
const MAX_IN_PROGRESS = 1_024;

/** One client connection, from its first byte (after the handshake) to its end. */
export class Connection {
  readonly socket: Socket;
  readonly limits: ListenLimits;
  requests = 0;
  /** Number of requests whose response has not ended. */
  inflight = 0;
  /** Number of requests that were not served, because the connection closes with an earlier response. */
  dropped = 0;
  /** The newest request, until its response has ended. */
  req: IncomingMessage | undefined;
  res: ServerResponse | undefined;
  /** The responses before `res` that have not ended, oldest first: the client sent requests without waiting for responses. */
  earlier: readonly ServerResponse[] = NONE;
  /** True if that request reached the handler, which counts it. */
  handled = false;
  /** True if nothing more is served on it: a request was rejected, or it is about to close. */
  refused = false;
  /** True if no request is accepted after those in progress. */
  closing = false;
  /** Milliseconds that it stays open after a response that did not announce its end. */
  graceMs = 0;
  /** Time until which it stays open without a request although it is to close, in milliseconds of the monotonic clock. */
  openUntil = 0;
  readonly openedAt = performance.now();
  upgraded = false;
  /** Receives the next `node:http` response, which another response replaces. */
  standIn: ((res: ServerResponse) => void) | undefined;
  /** End of its last response, in milliseconds of the monotonic clock. */
  idleSince = performance.now();
  /** `bytesRead` at that time: more means that a request has begun to arrive. */
  idleBytes: number;

  constructor(socket: Socket, limits: ListenLimits) {
    this.socket = socket;
    this.limits = limits;
    // Those behind a PROXY header are the first of a request.
    this.idleBytes = socket.bytesRead - socket.readableLength;
  }
}

const CONNECTION = Symbol('edge-gateway.connection');
type Carrier = Socket & { [CONNECTION]?: Connection };

export function trackConnection(socket: Socket, limits: ListenLimits): Connection {
  const connection = new Connection(socket, limits);
  (socket as Carrier)[CONNECTION] = connection;
  setCloseDelay(socket, limits.closeDelayMs);
  socket.destroySoon = destroyWhenSent;
  return connection;
}

/** The client must be able to read the response while it is still sending. */
function destroyWhenSent(this: Carrier): void {
  const connection = this[CONNECTION];
  if (connection && isReading(connection)) linger(this);
  else Socket.prototype.destroySoon.call(this);
}

/** Returns the connection of a socket that belongs to a listener. */
export const connectionOf = (socket: object): Connection | undefined => (socket as Carrier)[CONNECTION];

/** Returns false if a request must not be served: the connection closes with an earlier response. */
export const acceptsRequests = ({ refused, res }: Connection): boolean => !refused && res?.shouldKeepAlive !== false;

/** Counts a request that is not served. Node parses everything that a client sends, so a client that continues to send requests is disconnected. */
export function dropRequest(connection: Connection): void {
  if (++connection.dropped > MAX_IN_PROGRESS) connection.socket.destroy();
}

/** Records a request; the connection is not idle until its response closes. */
export function beginRequest(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
  connection.inflight++;
  connection.requests++;
  if (connection.requests === connection.limits.maxRequestsPerConnection || connection.inflight === MAX_IN_PROGRESS)
    connection.closing = true;
  if (connection.res) connection.earlier = [...connection.earlier, connection.res];
  connection.req = req;
  connection.res = res;
  connection.handled = false;
  if (connection.closing) res.shouldKeepAlive = false;
  res.on('close', endRequest);
}

function endRequest(this: ServerResponse): void {
  const connection = connectionOf(this.req.socket);
  if (!connection) return;
  // The client must be able to read the response while it is still sending.
  const close = isReading(connection) ? linger : destroySoon;
  connection.inflight--;
  if (connection.res === this) connection.req = connection.res = undefined;
  else connection.earlier = connection.earlier.filter((res) => res !== this);
  connection.idleSince = performance.now();
  connection.idleBytes = connection.socket.bytesRead;
  if (!connection.closing || connection.inflight > 0 || connection.upgraded) return;
  const { graceMs, socket, refused } = connection;
  // Its head was sent before the drain began: the client may be sending another request.
  const isUnaware = graceMs > 0 && this.shouldKeepAlive && !refused && !isReading(connection);
  if (isUnaware) closeWhenIdle(connection);
  else close(socket);
}

/** Turns off the idle timeout of the listener until the response ends: the route of the request has its own. */
export function suspendIdleTimeout({ socket }: IncomingMessage, res: ServerResponse): void {
  if (res instanceof Http2Response) return res.suspendIdleTimeout();
  const connection = connectionOf(socket);
  if (!connection) return;
  socket.setTimeout(0);
  const { idleTimeoutMs, streamIdleTimeoutMs } = connection.limits;
  // With a timeout between requests, Node itself sets the timer again.
  if (idleTimeoutMs === 0) res.once('close', () => socket.setTimeout(streamIdleTimeoutMs));
}

/** Returns the idle timeout of upgraded connections in milliseconds, for routes without their own; 0 is no limit. */
export function idleLimitOf(socket: object): number {
  const limits = socket instanceof UpgradeStream ? socket.req.limits : connectionOf(socket)?.limits;
  return limits?.streamIdleTimeoutMs ?? 0;
}

/** Returns true if no request is in progress and none has begun to arrive. */
export const isIdle = (connection: Connection): boolean =>
  connection.inflight === 0 && !connection.upgraded && connection.socket.bytesRead === connection.idleBytes;

/** How long connections stay open for a request that is about to be sent, in milliseconds. */
export interface CloseGrace {
  /** Since the last response. */
  readonly idleMs: number;
  /** Since the beginning of the close, for connections whose requests follow each other more quickly. Default: as the others. */
  readonly usedMs?: number;
}

/**
 * Closes a connection after the current or next response, which has `connection: close`, or when no request arrives within the grace period: immediately
 * if it was idle for that long. A connection that is used stays open for longer, because its next request may be on its way, and few clients repeat a request
 * that meets the end of a connection. A request that is just being sent is not lost, nor is the first one of a connection.
 */
export function closeGracefully(connection: Connection, grace: CloseGrace): void {
  const now = performance.now();
  const { idleMs, usedMs = 0 } = grace;
  connection.closing = true;
  connection.graceMs = idleMs;
  const isUsed = connection.requests > 0 && (now - connection.openedAt) / connection.requests < usedMs;
  connection.openUntil = isUsed ? now + usedMs : 0;
  if (connection.upgraded) return;
  if (connection.res && !connection.res.headersSent) connection.res.shouldKeepAlive = false;
  if (connection.requests === 0) connection.idleSince = now;
  closeWhenIdle(connection);
}

/** Closes a connection that is idle now after its grace period, unless a request arrives meanwhile. */
function closeWhenIdle(connection: Connection): void {
  if (!isIdle(connection)) return;
  const { idleSince, graceMs, openUntil } = connection;
  const rest = Math.max(idleSince + graceMs, openUntil) - performance.now();
  // A busy process may not have read what has arrived: that takes a turn of the event loop, after the end of this one.
  if (rest <= 0) setImmediate(() => setImmediate(closeIfIdle, connection));
  else setTimeout(closeWhenIdle, rest, connection).unref();
}

function closeIfIdle(connection: Connection): void {
  if (isIdle(connection)) connection.socket.destroySoon();
}

const destroySoon = (socket: Socket): void => socket.destroySoon();

const isReading = ({ req }: Connection): boolean => req !== undefined && !req.complete;
