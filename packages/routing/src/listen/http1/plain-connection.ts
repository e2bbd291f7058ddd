import { channel } from 'node:diagnostics_channel';
import { IncomingMessage, type ServerResponse, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { nodeDelay } from '@edge-gateway/core';
import { allowQueuedMessages } from '../../http1/queued-messages.ts';
import type { Deadline, Deadlines, Limited } from '../../upstream/deadlines.ts';
import { acceptsRequests, type Http1ClientConnection } from '../connection.ts';
import type { ClientError } from '../refuse/client-error.ts';
import { feedParser } from './feed-parser.ts';
import { PlainHeadReader, type PlainHead } from './plain-head.ts';
import { PlainRequest } from './plain-request.ts';
import { PlainResponse } from './plain-response.ts';
import { drained, readInto } from './user-buffer.ts';

/**
 * Maximum size, and number of reads, of what is received during a response. Beyond that the system keeps what the client sends, but does not
 * report that it disconnects.
 */
const MAX_HELD_BYTES = 64 * 1024;
const MAX_HELD_PARTS = 64;

type Carrier = Socket & { _httpMessage?: ServerResponse | null; server?: Server };

export interface PlainConnectionParts {
  /** The server that handles all other requests. */
  readonly server: Server;
  readonly deadlines: Deadlines;
  /** Maximum time until the first request, in milliseconds; 0 is no limit. */
  readonly headTimeoutMs: number;
  /** Serves a plain request. */
  readonly serve: (req: IncomingMessage, res: ServerResponse, connection: Http1ClientConnection) => void;
  readonly timeout: (socket: Socket) => void;
}

const CONNECTION = Symbol('edge-gateway.plain-connection');
type OfConnection = ServerResponse & { [CONNECTION]?: PlainConnection };

const requestStart = channel('http.server.request.start');
const responseFinish = channel('http.server.response.finish');
const DETACH_SIGNAL = Object.getOwnPropertySymbols(IncomingMessage.prototype).find(
  ({ description }) => description === 'kDetachAbortSignal',
);

/**
 * A connection of HTTP/1.1 without the parser of `node:http`, for requests that arrive completely and in the plain grammar. When other
 * bytes follow a response, it hands the socket and these bytes over to the `node:http` server permanently. What arrives during a response
 * waits for its end.
 */
export class PlainConnection implements Limited {
  readonly #connection: Http1ClientConnection;
  readonly #socket: Carrier;
  readonly #parts: PlainConnectionParts;
  readonly #reader: PlainHeadReader;
  readonly #requestTimeoutMs: number;
  readonly #idleTimeoutMs: number;
  #first: Deadline | undefined;
  #req: PlainRequest | undefined;
  #res: PlainResponse | undefined;
  /** What the client has sent behind the current request. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** True once it was handed over to the `node:http` server. */
  #isHandedOver = false;

  private constructor(connection: Http1ClientConnection, parts: PlainConnectionParts) {
    const { socket, limits } = connection;
    this.#connection = connection;
    this.#socket = socket;
    this.#parts = parts;
    this.#reader = new PlainHeadReader(limits);
    this.#requestTimeoutMs = nodeDelay(limits.streamIdleTimeoutMs);
    // Node adds a second.
    this.#idleTimeoutMs = limits.idleTimeoutMs > 0 ? nodeDelay(limits.idleTimeoutMs) + 1_000 : 0;
  }

  /** Returns false if the `node:http` server must handle the socket. */
  static open(connection: Http1ClientConnection, parts: PlainConnectionParts): boolean {
    const opened = new PlainConnection(connection, parts);
    if (!readInto(connection.socket, opened.#onRead)) return false;
    allowQueuedMessages(connection.socket);
    opened.#start();
    return true;
  }

  #start(): void {
    const socket = this.#socket;
    const { deadlines, headTimeoutMs, server } = this.#parts;
    socket.server = server;
    if (headTimeoutMs > 0) this.#first = deadlines.start(this, headTimeoutMs, performance.now());
    if (this.#requestTimeoutMs > 0) socket.setTimeout(nodeDelay(this.#requestTimeoutMs));
    socket.on('timeout', this.#onTimeout).on('error', this.#onError).on('end', this.#onEnd);
    socket.on('close', this.#onClose).on('drain', this.#onDrain);
    // Bytes that were read before, e.g. after a PROXY header.
    const received = socket.read() as Buffer | null;
    if (received !== null) this.#serveFrom(received, 0, received.length, true);
    else socket.read(0);
  }

  /** Called when no request arrived in time. */
  expire(): void {
    const error: ClientError = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    this.#parts.server.emit('clientError', error, this.#socket);
  }

  readonly #onRead = (length: number, buffer: Uint8Array): boolean => {
    const bytes = buffer as Buffer;
    if (this.#isHandedOver) return this.#socket.push(copy(bytes, 0, length));
    if (this.#res) return this.#buffer(copy(bytes, 0, length));
    this.#serveFrom(bytes, 0, length, false);
    return true;
  };

  /** Serves the bytes between two offsets of a buffer, which is reused after the call unless it `isOwned`. */
  #serveFrom(buffer: Buffer, start: number, end: number, isOwned: boolean): void {
    // A request that follows the last response is not served.
    if (!acceptsRequests(this.#connection) || !this.#socket.writable) return;
    const head = this.#reader.read(buffer, start, end);
    const bodyEnd = head ? head.bodyStart + (head.contentLength ?? 0) : Infinity;
    if (!head || bodyEnd > end) return this.#handOver(copy(buffer, start, end));
    if (bodyEnd < end) this.#buffer(isOwned ? buffer.subarray(bodyEnd, end) : copy(buffer, bodyEnd, end));
    const body = head.contentLength === undefined ? undefined : copy(buffer, head.bodyStart, bodyEnd);
    this.#serve(head, body);
  }

  #serve(head: PlainHead, body: Buffer | undefined): void {
    const socket = this.#socket;
    const { server, serve } = this.#parts;
    this.#first?.cancel();
    if (socket.timeout !== this.#requestTimeoutMs) socket.setTimeout(nodeDelay(this.#requestTimeoutMs));
    const req = (this.#req = new PlainRequest(socket, head, body));
    const res = (this.#res = new PlainResponse(req, socket, server.keepAliveTimeout));
    if (!head.keepAlive) res.shouldKeepAlive = false;
    (res as OfConnection)[CONNECTION] = this;
    if (requestStart.hasSubscribers) requestStart.publish({ request: req, response: res, socket, server });
    res.attach(socket);
    res.on('finish', onFinish);
    serve(req, res, this.#connection);
    req.deliver();
  }

  /** Called when the response was sent. */
  finished(): void {
    const [req, res, socket] = [this.#req!, this.#res!, this.#socket];
    if (responseFinish.hasSubscribers)
      responseFinish.publish({ request: req, response: res, socket, server: this.#parts.server });
    const internals = req as unknown as Record<symbol, (() => void) | undefined> & ReadInternals;
    if (DETACH_SIGNAL) internals[DETACH_SIGNAL]?.();
    if (!internals._consuming && !internals._readableState.resumeScheduled) internals._dump();
    res.detach(socket);
    // In `node:http`, `close` follows `finish` in a tick of its own. Where no other listener of `finish` waits, it need not.
    const closes = res.isWhole && res.listenerCount('finish') === 1;
    if (!closes) process.nextTick(closeResponse, this, res);
    if (res._last) socket.destroySoon();
    else this.#waitForNext();
    if (closes) closeResponse(this, res);
  }

  closed(): void {
    this.#req = this.#res = undefined;
    if (this.#heldBytes > 0) this.#serveHeld();
  }

  /** Keeps what arrives during a response. Returns false if no more should be read. */
  #buffer(bytes: Buffer): boolean {
    this.#connection.isBehind = true;
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    return this.#heldBytes < MAX_HELD_BYTES && this.#held.length < MAX_HELD_PARTS;
  }

  #serveHeld(): void {
    const bytes = this.#held.length === 1 ? this.#held[0]! : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    this.#connection.isBehind = false;
    // Resumes reading, if it had stopped.
    this.#socket.read(0);
    this.#serveFrom(bytes, 0, bytes.length, true);
  }

  /** Keeps the request timeout if it is shorter: see `#onTimeout`. */
  #waitForNext(): void {
    const wanted = this.#staysSet ? this.#requestTimeoutMs : this.#idleTimeoutMs;
    if (this.#idleTimeoutMs > 0 && this.#socket.timeout !== wanted) this.#socket.setTimeout(nodeDelay(wanted));
  }

  get #staysSet(): boolean {
    return this.#requestTimeoutMs > 0 && this.#requestTimeoutMs <= this.#idleTimeoutMs;
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#release();
    socket.off('close', this.#onClose);
    this.#parts.server.emit('connection', socket);
    feedParser(socket, bytes);
  }

  #release(): void {
    this.#isHandedOver = true;
    this.#first?.cancel();
    this.#socket.off('timeout', this.#onTimeout).off('error', this.#onError);
    this.#socket.off('end', this.#onEnd).off('drain', this.#onDrain);
  }

  readonly #onTimeout = (): void => {
    const socket = this.#socket;
    this.#res?.emit('timeout', socket);
    if (!this.#res && this.#staysSet) {
      const rest = this.#connection.idleSince + this.#idleTimeoutMs - performance.now();
      if (rest > 0) return void socket.setTimeout(nodeDelay(Math.ceil(rest)));
    }
    this.#parts.timeout(socket);
  };

  readonly #onError = (error: Error): void => {
    this.#socket.off('error', this.#onError);
    this.#parts.server.emit('clientError', error, this.#socket);
  };

  readonly #onEnd = (): void => {
    const socket = this.#socket;
    if (!this.#req || this.#req.complete) return void socket.end();
    // The handler must receive the end of the body first.
    this.#req.finish();
    setImmediate(() => socket.end());
  };

  readonly #onDrain = (): void => {
    if (this.#res) drained(this.#res);
  };

  readonly #onClose = (): void => {
    this.#first?.cancel();
    const [req, res] = [this.#req, this.#res];
    if (!res || this.#socket._httpMessage !== res) return;
    req!.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
    emitClose(res);
  };
}

interface ReadInternals {
  readonly _consuming: boolean;
  readonly _readableState: { readonly resumeScheduled: boolean };
  _dump(): void;
}

function onFinish(this: OfConnection): void {
  this[CONNECTION]!.finished();
}

function closeResponse(connection: PlainConnection, res: PlainResponse): void {
  emitClose(res);
  connection.closed();
}

function emitClose(res: PlainResponse): void {
  if (res._closed) return;
  res.destroyed = true;
  res._closed = true;
  res.emit('close');
}

function copy(buffer: Buffer, start: number, end: number): Buffer {
  const copied = Buffer.allocUnsafe(end - start);
  buffer.copy(copied, 0, start, end);
  return copied;
}
