import { startInterval, startTimer } from '@edge-gateway/core';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Deadline, Deadlines } from '../../upstream/deadlines.ts';
import { refusal, type Refusal } from '../../check/refusal.ts';
import type { ListenStats } from '../listen-stats.ts';
import type { ListenLimits } from '../limits.ts';
import { FrameBudget } from './frame-budget.ts';
import type { Http2Head } from './http2-head.ts';
import { Http2Request } from './http2-request.ts';
import { Http2Response } from './http2-response.ts';
import { openSession } from './open-session.ts';
import type { FrameServerStream } from './frame-server-stream.ts';
import type { FrameSession, SessionObserver } from './frame-session.ts';

/** One request of an HTTP/2 connection and its response. */
export interface Http2Exchange {
  readonly req: Http2Request;
  readonly res: ServerResponse;
  readonly socket: Socket;
  readonly limits: ListenLimits;
  readonly head: Http2Head;
  /** True if the request reached the handler, which counts it. */
  handled: boolean;
}

export interface Http2Serve {
  request(exchange: Http2Exchange): void;
  /** A request in progress is invalid, or took too long. */
  interrupt(exchange: Http2Exchange, refused: Refusal): void;
  /** Called when a connection is closed because of the data from its client. */
  abuse(socket: Socket, reason: string): void;
}

export interface Http2ConnectionParts {
  readonly limits: ListenLimits;
  readonly stats: ListenStats;
  readonly serve: Http2Serve;
  readonly deadlines: Deadlines;
  /** True if clients may open WebSockets. */
  readonly webSockets: boolean;
}

/** `REFUSED_STREAM` of RFC 9113 7: the client may send the request again. */
const REFUSED = 0x7;
/** A stream that the client resets before this time is premature. */
const PREMATURE_MS = 1_000;
/** Premature resets are tolerated as long as they are less than half of the streams, or of this number. */
const MIN_STREAMS = 500;
/** How many times the allowed number of streams may wait for their end, with those that the client has reset. */
const MAX_ACTIVE = 2;

/** One client connection that speaks HTTP/2. */
export class Http2Connection implements SessionObserver {
  readonly socket: Socket;
  readonly limits: ListenLimits;
  requests = 0;
  /** Streams whose response has not ended. */
  active = 0;
  readonly #session: FrameSession;
  readonly #parts: Http2ConnectionParts;
  #resets = 0;
  readonly #budget: FrameBudget;
  #idleSince = performance.now();
  #idleTimer: NodeJS.Timeout | undefined;
  #headTimer: NodeJS.Timeout | undefined;
  #closeTimer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, parts: Http2ConnectionParts) {
    const { limits } = parts;
    this.socket = socket;
    this.limits = limits;
    this.#parts = parts;
    const budget = (this.#budget = new FrameBudget(socket));
    if (limits.headTimeoutMs > 0) {
      this.#headTimer = startTimer(() => this.#close(), limits.headTimeoutMs).unref();
    }
    if (limits.idleTimeoutMs > 0) this.#awaitIdle(limits.idleTimeoutMs);
    const checks = startInterval(() => {
      if (budget.check()) this.#session.reject('too many frames besides requests');
    }, limits.checkIntervalMs).unref();
    socket.once('close', () => {
      clearInterval(checks);
      clearTimeout(this.#idleTimer);
      clearTimeout(this.#headTimer);
      clearTimeout(this.#closeTimer);
    });
    this.#session = openSession(socket, this, limits, parts.webSockets);
  }

  /**
   * Closes the connection when the requests in progress have ended. GOAWAY names the last of them, so that clients send later ones again
   * elsewhere (RFC 9113 6.8): at once, or as soon as the connection was idle for `graceMs`.
   */
  closeGracefully(graceMs: number): void {
    if (this.#session.closed) return;
    const rest = this.active > 0 ? 0 : this.#idleSince + graceMs - performance.now();
    if (rest <= 0) return this.#close();
    clearTimeout(this.#closeTimer);
    this.#closeTimer = startTimer(() => this.#close(), Math.ceil(rest)).unref();
  }

  /** With `atOnce`, requests that arrive from now on are refused. */
  #close(atOnce = false): void {
    const session = this.#session;
    if (session.destroyed || session.closed) return;
    session.close(atOnce);
  }

  /** A client that does not end its side is not waited for. */
  #endSoon(): void {
    startTimer(() => this.socket.destroy(), Math.max(this.limits.closeDelayMs, 1)).unref();
  }

  #awaitIdle(delayMs: number): void {
    this.#idleTimer = startTimer(() => {
      const { idleTimeoutMs } = this.limits;
      const rest = this.active > 0 ? idleTimeoutMs : this.#idleSince + idleTimeoutMs - performance.now();
      if (rest > 0) this.#awaitIdle(rest);
      else this.#close();
    }, Math.ceil(delayMs)).unref();
  }

  onConnected(): void {
    if (this.#headTimer) clearTimeout(this.#headTimer);
    this.#headTimer = undefined;
  }

  onStream(stream: FrameServerStream, head: Http2Head, bytes: number): void {
    const { limits } = this;
    // More than the client may have open: those that it has reset while their responses wait for it.
    if (this.active >= MAX_ACTIVE * limits.maxConcurrentStreams) return stream.close(REFUSED);
    this.active++;
    this.requests++;
    this.#parts.stats.http2Requests.value++;
    this.#budget.receive(bytes);
    const exchange = new Exchange(this, stream, head, this.#parts);
    if (this.requests === limits.maxRequestsPerConnection) this.#close(true);
    this.#parts.serve.request(exchange);
    exchange.req.receiveBody();
  }

  onResetStream(): void {
    this.#countReset(performance.now());
  }

  onLast(): void {
    if (this.active === 0) this.#endSoon();
  }

  onViolation(reason: string): void {
    this.#parts.serve.abuse(this.socket, reason);
  }

  /** A frame of a request was received. */
  receive(bytes: number): void {
    this.#budget.receive(bytes);
  }

  ended(startedAt: number, isReset: boolean): void {
    this.active--;
    this.#idleSince = performance.now();
    if (isReset) this.#countReset(startedAt);
    if (this.#session.closed) this.onLast();
  }

  /** A client that opens streams only to reset them costs more than it pays. */
  #countReset(startedAt: number): void {
    if (performance.now() - startedAt > PREMATURE_MS) return;
    this.#resets++;
    if (2 * this.#resets <= Math.max(this.requests, MIN_STREAMS) || this.#session.destroyed) return;
    // The connection ends, and its responses with it.
    if (!this.socket.writable) return;
    this.#parts.stats.http2TooManyResets.value++;
    this.#session.reject('too many premature resets');
  }
}

class Exchange implements Http2Exchange {
  readonly req: Http2Request;
  readonly res: ServerResponse;
  readonly head: Http2Head;
  handled = false;
  readonly #connection: Http2Connection;
  readonly #stream: FrameServerStream;
  readonly #serve: Http2Serve;
  readonly #response: Http2Response;
  readonly #startedAt = performance.now();
  readonly #deadlines: Deadlines;
  #idle: Deadline | undefined;
  /** Maximum time in which a complete response makes no progress; 0 is no limit. */
  #flushMs: number;
  /** Bytes of the response that were sent when that time began. */
  #sentBytes = 0;
  readonly #whole: Deadline | undefined;
  /** The client has ended the request before its response. */
  #isReset = false;

  constructor(connection: Http2Connection, stream: FrameServerStream, head: Http2Head, parts: Http2ConnectionParts) {
    const { limits, socket } = connection;
    this.#connection = connection;
    this.#stream = stream;
    this.#serve = parts.serve;
    this.head = head;
    this.req = new Http2Request(stream, head, socket, limits);
    this.#response = new Http2Response(this.req);
    this.res = this.#response as unknown as ServerResponse;
    const { streamIdleTimeoutMs, requestTimeoutMs } = limits;
    const { deadlines } = parts;
    this.#deadlines = deadlines;
    this.#flushMs = streamIdleTimeoutMs;
    if (streamIdleTimeoutMs > 0) {
      this.#idle = deadlines.start({ expire: this.#expireIdle }, streamIdleTimeoutMs, this.#startedAt);
    }
    if (requestTimeoutMs > 0 && !this.req.complete) {
      this.#whole = deadlines.start({ expire: this.#expire }, requestTimeoutMs, this.#startedAt);
    }
    this.req.observer = this;
    this.#response.observer = this;
    stream.on('close', this.#closed);
    stream.on('aborted', this.#aborted);
  }

  get socket(): Socket {
    return this.#connection.socket;
  }

  get limits(): ListenLimits {
    return this.#connection.limits;
  }

  onProgress(): void {
    // A client that only sends the rest of its request does not receive the response.
    if (!this.#response.writableEnded) this.#idle?.restart();
  }

  onEnded(): void {
    if (this.#idle?.restart() === true || this.#flushMs === 0) return;
    // The timeout was suspended, or has expired: this is its response.
    this.#limitFlush();
  }

  onFrame(bytes: number): void {
    this.#connection.receive(bytes);
  }

  onHeld(change: number): void {
    if (change < 0) this.#stream.consumed(-change);
  }

  onSuspend(flushMs: number): void {
    this.#idle?.cancel();
    if (flushMs > 0) this.#flushMs = flushMs;
  }

  onComplete(): void {
    this.#whole?.cancel();
  }

  onProblem(refused: Refusal): void {
    // The client ends its request by it, as by a reset: neither is a way to begin requests without limit.
    this.#isReset = true;
    this.#serve.interrupt(this, refused);
  }

  /** The stream ended before its response: the client has reset it, if this side has not. */
  readonly #aborted = (): void => {
    if (!this.#stream.destroyed) this.#isReset = true;
  };

  readonly #expireIdle = (): void => {
    // The client may receive a long response slowly.
    if (this.#response.sentBytes > this.#sentBytes) this.#limitFlush();
    else this.#expire();
  };

  #limitFlush(): void {
    this.#sentBytes = this.#response.sentBytes;
    this.#idle = this.#deadlines.start({ expire: this.#expireIdle }, this.#flushMs, performance.now());
  }

  readonly #expire = (): void => {
    const code = this.req.complete ? 'ERR_ROUTING_STREAM_TIMEOUT' : 'ERR_ROUTING_REQUEST_TIMEOUT';
    this.#serve.interrupt(this, refusal(code));
  };

  readonly #closed = (): void => {
    this.#idle?.cancel();
    this.#whole?.cancel();
    const isReset = this.#isReset || (!this.#response.writableFinished && this.#stream.rstCode !== 0);
    this.req.abort();
    // A tunnel still passes on what it has received.
    if (!this.req.isTunnel || !this.req.complete) this.req.release();
    this.#response.closed();
    this.#connection.ended(this.#startedAt, isReset);
  };
}
