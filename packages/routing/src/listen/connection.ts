import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { linger, nodeDelay, setCloseDelay, startTimer } from '@edge-gateway/core';
import { Http2Response } from './http2/http2-response.ts';
import { UpgradeStream } from './http2/upgrade-stream.ts';
import type { ListenLimits } from './limits.ts';

/**
 * Maximum number of requests that wait for their turn, and of those that are ignored behind the last one of a connection: `node:http` parses
 * everything that a client sends.
 */
const MAX_WAITING = 1_024;
/** Maximum size of what is received behind the first request that waits, in bytes: it stays in memory with the bodies of all that wait. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** A request, or bytes that are not a request, received before the response to an earlier request has ended. */
export interface Waiting {
  /** Missing for upgrades, and for bytes that are not a request. */
  readonly req?: IncomingMessage | undefined;
  readonly res?: ServerResponse | undefined;
  /** What the socket had read when this request began to wait, in bytes; missing for what is the last. */
  readonly bytesRead?: number;
  /** True for bytes that cannot be parsed: nothing can follow them. */
  readonly isCut?: boolean;
  /** Called when the responses before it have ended, unless the connection closes with them. */
  serve(): void;
}

/** One client connection, from its first byte (after the handshake) to its end. */
export class Http1ClientConnection {
  readonly socket: Socket;
  readonly limits: ListenLimits;
  /** Number of requests that were served or are being served. */
  requests = 0;
  /** Number of requests that were not served, because the connection closes with an earlier response. */
  dropped = 0;
  /** The request that is being served, until its response has ended. */
  req: IncomingMessage | undefined;
  res: ServerResponse | undefined;
  /**
   * The requests behind it, oldest first, if the client does not wait for responses. They are served one after the other, because they may
   * depend on each other (RFC 9112 9.3.2).
   */
  readonly waiting: Waiting[] = [];
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
  /** True while bytes behind the current request wait outside of the parser. */
  isBehind = false;
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
type Carrier = Socket & { [CONNECTION]?: Http1ClientConnection };

export function trackConnection(socket: Socket, limits: ListenLimits): Http1ClientConnection {
  const connection = new Http1ClientConnection(socket, limits);
  (socket as Carrier)[CONNECTION] = connection;
  setCloseDelay(socket, limits.closeDelayMs);
  socket.destroySoon = destroyWhenSent;
  return connection;
}

/** Closes a connection when everything has been sent. A client that is still sending must be able to read the response. */
function destroyWhenSent(this: Carrier): void {
  const connection = this[CONNECTION];
  if (connection && (connection.isBehind || isReceiving(connection))) linger(this);
  else Socket.prototype.destroySoon.call(this);
}

/** Returns the connection of a socket that belongs to a listener. */
export const connectionOf = (socket: object): Http1ClientConnection | undefined => (socket as Carrier)[CONNECTION];

/** Returns the response to the last request that was accepted, until it has ended. */
const lastResponse = ({ res, waiting }: Http1ClientConnection): ServerResponse | undefined =>
  waiting.length === 0 ? res : (waiting.findLast((each) => each.res)?.res ?? res);

/** Returns false if a request must not be served: the connection closes with an earlier response. */
export const acceptsRequests = (connection: Http1ClientConnection): boolean =>
  !connection.refused && !isCut(connection) && lastResponse(connection)?.shouldKeepAlive !== false;

/** Returns true if what the client has sent behind the current request cannot be parsed. */
export const isCut = ({ waiting }: Http1ClientConnection): boolean =>
  waiting.length > 0 && waiting.at(-1)!.isCut === true;

/**
 * Rejects what follows the complete requests of a connection: calls `serve` after their responses, with the last request if it is
 * incomplete.
 */
export function cutBehind(
  { waiting }: Http1ClientConnection,
  serve: (cut: Pick<Waiting, 'req' | 'res'>) => void,
): void {
  const isIncomplete = waiting.at(-1)?.req?.complete === false;
  const { req, res } = (isIncomplete && waiting.pop()) || {};
  waiting.push({ req, res, isCut: true, serve: () => serve({ req, res }) });
}

/** Counts a request that is not served, and discards its body. A client that continues to send requests is disconnected. */
export function dropRequest(connection: Http1ClientConnection, req: IncomingMessage): void {
  req.resume();
  if (++connection.dropped > MAX_WAITING) connection.socket.destroy();
}

/** Accepts a request, which is served in its turn. */
export function acceptRequest(connection: Http1ClientConnection, res: ServerResponse): void {
  const { requests, limits, waiting } = connection;
  if (requests + waiting.length + 1 === limits.maxRequestsPerConnection || isFull(connection))
    connection.closing = true;
  if (connection.closing) res.shouldKeepAlive = false;
}

/** Returns true if the next request is the last one that may wait. */
function isFull({ waiting, socket }: Http1ClientConnection): boolean {
  const before = waiting[0]?.bytesRead;
  return waiting.length >= MAX_WAITING - 1 || (before !== undefined && socket.bytesRead - before > MAX_WAITING_BYTES);
}

/** Begins to serve an accepted request; the connection is not idle until its response closes. */
export function beginRequest(connection: Http1ClientConnection, req: IncomingMessage, res: ServerResponse): void {
  connection.requests++;
  connection.req = req;
  connection.res = res;
  connection.handled = false;
  res.on('close', endRequest);
}

function endRequest(this: ServerResponse): void {
  const connection = connectionOf(this.req.socket);
  if (!connection) return;
  const { socket, waiting } = connection;
  if (!this.shouldKeepAlive || !socket.writable) waiting.length = 0;
  const isNext = waiting.length > 0;
  const closes = !isNext && connection.closing && !connection.upgraded;
  // Its head was sent before the drain began: the client may be sending another request.
  const isUnaware = connection.graceMs > 0 && this.shouldKeepAlive && !connection.refused && !isReceiving(connection);
  // While the request is known: a client that is still sending it must be able to read the response.
  if (closes && !isUnaware) socket.destroySoon();
  connection.req = connection.res = undefined;
  connection.idleSince = performance.now();
  connection.idleBytes = socket.bytesRead;
  // Other listeners see the end of the response first.
  if (isNext) process.nextTick(serveNext, connection);
  else if (closes && isUnaware) closeWhenIdle(connection);
}

function serveNext({ waiting, socket }: Http1ClientConnection): void {
  const next = waiting.shift();
  if (socket.writable) next?.serve();
}

/**
 * Turns off the idle timeout of the listener while the response is written, because the route of the request has its own. The rest of a
 * complete response must be sent within that of the route, or else of the listener.
 */
export function suspendIdleTimeout({ socket }: IncomingMessage, res: ServerResponse, idleMs = 0): void {
  if (res instanceof Http2Response) return res.suspendIdleTimeout(idleMs);
  const connection = connectionOf(socket);
  if (!connection) return;
  socket.setTimeout(0);
  const { idleTimeoutMs, streamIdleTimeoutMs } = connection.limits;
  res.once('prefinish', () => socket.setTimeout(nodeDelay(idleMs || streamIdleTimeoutMs)));
  // With a timeout between requests, Node itself sets the timer again.
  if (idleTimeoutMs === 0) res.once('close', () => socket.setTimeout(nodeDelay(streamIdleTimeoutMs)));
}

/** Returns the idle timeout of upgraded connections in milliseconds, for routes without their own; 0 is no limit. */
export function idleLimitOf(socket: object): number {
  const limits = socket instanceof UpgradeStream ? socket.req.limits : connectionOf(socket)?.limits;
  return limits?.streamIdleTimeoutMs ?? 0;
}

/** Returns true if no request is in progress and none has begun to arrive. */
export const isIdle = ({ res, waiting, upgraded, isBehind, socket, idleBytes }: Http1ClientConnection): boolean =>
  res === undefined && waiting.length === 0 && !upgraded && !isBehind && socket.bytesRead === idleBytes;

/** How long connections stay open for a request that is about to be sent, in milliseconds. */
export interface CloseGrace {
  /** Since the last response. */
  readonly idleMs: number;
  /** Since the beginning of the close, for connections whose requests follow each other more quickly. Default: as the others. */
  readonly usedMs?: number;
  /** Since the beginning of the close, for all connections: a request that arrives meanwhile is served, and its response announces the end. Default: 0. */
  readonly announceMs?: number;
}

/**
 * Closes a connection after the current or next response, which has `connection: close`, or when no request arrives within the grace period: immediately
 * if it was idle for that long. A connection that is used stays open for longer, because its next request may be on its way, and few clients repeat a request
 * that meets the end of a connection. A request that is just being sent is not lost, nor is the first one of a connection.
 */
export function closeGracefully(connection: Http1ClientConnection, grace: CloseGrace): void {
  const now = performance.now();
  const { idleMs, usedMs = 0, announceMs = 0 } = grace;
  connection.closing = true;
  connection.graceMs = idleMs;
  const isUsed = connection.requests > 0 && (now - connection.openedAt) / connection.requests < usedMs;
  connection.openUntil = now + Math.max(isUsed ? usedMs : 0, announceMs);
  if (connection.upgraded) return;
  const last = lastResponse(connection);
  if (last && !last.headersSent) last.shouldKeepAlive = false;
  if (connection.requests === 0) connection.idleSince = now;
  closeWhenIdle(connection);
}

/** Closes a connection that is idle now after its grace period, unless a request arrives meanwhile. */
function closeWhenIdle(connection: Http1ClientConnection): void {
  if (!isIdle(connection)) return;
  const { idleSince, graceMs, openUntil } = connection;
  const rest = Math.max(idleSince + graceMs, openUntil) - performance.now();
  // A busy process may not have read what has arrived: that takes a turn of the event loop, after the end of this one.
  if (rest <= 0) setImmediate(() => setImmediate(closeIfIdle, connection));
  else startTimer(closeWhenIdle, rest, connection).unref();
}

function closeIfIdle(connection: Http1ClientConnection): void {
  if (isIdle(connection)) connection.socket.destroySoon();
}

/** Returns true if the current request has not arrived completely. */
const isReceiving = ({ req }: Http1ClientConnection): boolean => req !== undefined && !req.complete;
