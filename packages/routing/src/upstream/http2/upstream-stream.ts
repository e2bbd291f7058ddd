import { constants, type ClientHttp2Stream } from 'node:http2';
import type { LocalEnd } from '../../format/local-end.ts';
import { RequestHeadError, UpstreamProtocolError, UpstreamResetError } from '../../http1/errors.ts';
import type { RequestBody } from '../../http1/request-body.ts';
import type { Channel, ChannelUser, PreparedHead } from '../channel.ts';
import { isEmptyBody } from '../framing.ts';
import type { ClusterStats } from '../stats.ts';
import type { ClientStream, RequestOptions, StreamObserver } from './client-connection.ts';
import { readResponseHeaders, readTrailers } from './stream-head.ts';
import { streamError, type Goaway } from './stream-errors.ts';
import { StreamUpload } from './stream-upload.ts';

/** Maximum number of interim responses (1xx) before a final one. */
const MAX_INTERIM = 16;
const END_STREAM = constants.NGHTTP2_FLAG_END_STREAM;
const NO_TRAILERS: readonly string[] = [];
const EMPTY = Buffer.alloc(0);
const WITHOUT_BODY = { endStream: true };
const WITH_BODY = { endStream: false };
const WITH_TRAILERS = { endStream: false, waitForTrailers: true };

/** The part of a session that a stream uses. */
export interface StreamSession {
  readonly local: LocalEnd | undefined;
  readonly served: number;
  readonly active: number;
  readonly goaway: Goaway | undefined;
  readonly isClosed: boolean;
  /** Number of received bytes. */
  readonly receivedBytes: number;
  readonly stats: ClusterStats;
  /** True if the peer accepts WebSockets (RFC 8441). */
  readonly acceptsWebSockets: boolean;
  request(observer: StreamObserver, headers: readonly string[], options: RequestOptions): ClientStream;
  openTunnel(headers: readonly string[]): ClientHttp2Stream;
  /** Flushes a stream when everything that was received with the head of its response was passed on. */
  flushLater(stream: UpstreamStream): void;
  /** A stream has waited in vain; `bytesBefore` were received when it began. The peer is asked whether it is still there. */
  leftUnanswered(bytesBefore: number): void;
  /** The peer sent an invalid response: the connection is closed after its other streams, unless only the stream has to end. */
  protocolViolated(): void;
  /** A stream ended; `wasSent` if it was opened. */
  release(wasSent: boolean): void;
}

/** One request and its response on a stream of an HTTP/2 connection. */
export class UpstreamStream implements Channel, StreamObserver {
  readonly reused: boolean;
  sent = false;
  responding = false;
  trailers = NO_TRAILERS;
  readonly #session: StreamSession;
  #user: ChannelUser | undefined;
  #stream: ClientStream | undefined;
  #method = '';
  #error: Error | undefined;
  #interim = 0;
  /** What the session had received when the request was sent. */
  #bytesBefore = 0;
  /** The head of the final response was passed on. */
  #begun = false;
  /** The first part of the body, until the end of the turn: a small response is then passed on as a whole. */
  #held: Buffer | undefined;
  /** The response is longer: its parts are passed on as they arrive. */
  #streaming = false;
  /** The whole response has arrived. */
  #complete = false;
  #paused = false;
  #body: RequestBody | undefined;

  constructor(session: StreamSession, user: ChannelUser) {
    this.#session = session;
    this.#user = user;
    // The peer may just have closed a connection that was idle.
    this.reused = session.served > 0 && session.active === 1;
  }

  get local(): LocalEnd | undefined {
    return this.#session.local;
  }

  write(method: string, head: PreparedHead, body: Buffer | RequestBody | undefined): void {
    this.sent = true;
    this.#bytesBefore = this.#session.receivedBytes;
    this.#method = method;
    let stream: ClientStream;
    try {
      const isStreamed = body !== undefined && !Buffer.isBuffer(body);
      const withBody = isStreamed && body.mayHaveTrailers ? WITH_TRAILERS : WITH_BODY;
      stream = this.#session.request(this, head as string[], isEmptyBody(body) ? WITHOUT_BODY : withBody);
    } catch (error) {
      return this.#fail(new RequestHeadError((error as Error).message));
    }
    this.#stream = stream;
    if (body === undefined || Buffer.isBuffer(body)) {
      if (!isEmptyBody(body)) stream.end(body);
      return;
    }
    this.#body = body;
    new StreamUpload(stream, body, (error) => this.#fail(error)).start();
  }

  get acceptsWebSockets(): boolean {
    return this.#session.acceptsWebSockets;
  }

  /**
   * Opens the stream of a tunnel. Its user reads and writes it directly; errors of its peer are those that {@link tunnelError}
   * returns. Throws a `RequestHeadError` for a head that Node rejects.
   */
  openTunnel(head: PreparedHead): ClientHttp2Stream {
    this.sent = true;
    this.#bytesBefore = this.#session.receivedBytes;
    this.#user = undefined;
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.openTunnel(head as string[]);
    } catch (error) {
      this.#session.release(false);
      throw new RequestHeadError((error as Error).message);
    }
    this.#stream = stream;
    stream.once('close', () => this.#session.release(true));
    return stream;
  }

  /** Returns why the stream of a tunnel ended before it was open. */
  tunnelError(error: Error | undefined): Error {
    const { id = 0, rstCode: code } = this.#stream!;
    const { goaway, isClosed: isSessionClosed } = this.#session;
    return streamError({ id, code, error, goaway, isSessionClosed });
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    const stream = this.#stream;
    // Node stops reading when a part is not accepted; this is how a readable stream asks for the next one.
    if (stream && !stream.destroyed) stream._read(0);
  }

  keep(buffer: Buffer, start: number, end: number): Buffer {
    return start === 0 && end === buffer.length ? buffer : buffer.subarray(start, end);
  }

  /** Buffers of HTTP/2 are not reused here: `keep` need not copy. */
  owns(): boolean {
    return false;
  }

  detachBuffer(): void {}

  leave(): void {
    this.#release();
    this.#reset(constants.NGHTTP2_CANCEL);
  }

  leaveLate(): void {
    if (this.sent) this.#session.leftUnanswered(this.#bytesBefore);
    this.leave();
  }

  /** The stream of a tunnel is given up before it is open. */
  cancelTunnel(): void {
    this.#session.leftUnanswered(this.#bytesBefore);
    this.#stream!.close(constants.NGHTTP2_CANCEL);
  }

  abandon(): void {
    this.leave();
  }

  onInterim(raw: readonly string[]): void {
    const user = this.#user;
    if (!user) return;
    this.responding = true;
    try {
      if (++this.#interim > MAX_INTERIM) throw new UpstreamProtocolError('too many interim responses');
      user.onInterim?.(readResponseHeaders(raw, true));
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  onHead(raw: readonly string[], flags: number): void {
    const user = this.#user;
    if (!user) return;
    this.responding = true;
    try {
      const head = readResponseHeaders(raw, this.#method === 'HEAD');
      if (head.status < 200) throw new UpstreamProtocolError('an interim response ends the stream');
      this.#begun = true;
      user.onHead(head);
    } catch (error) {
      return this.#fail(error as Error);
    }
    if (this.#user && (flags & END_STREAM) === 0) this.#session.flushLater(this);
  }

  onTrailers(raw: readonly string[]): void {
    if (!this.#user) return;
    try {
      this.trailers = readTrailers(raw);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Receives a part of the body. Returns false if no more is wanted for now. */
  onData(chunk: Buffer): boolean {
    const user = this.#user;
    if (!user) return true;
    if (!this.#begun) this.#held = this.#held ? Buffer.concat([this.#held, chunk]) : chunk;
    else if (this.#streaming) this.#passBody(chunk);
    else if (this.#held === undefined) this.#held = chunk;
    else {
      this.flush();
      this.#passBody(chunk);
    }
    return !this.#paused;
  }

  /** The last part was received; `isComplete` is false if the stream was reset instead. */
  onLast(isComplete: boolean): void {
    this.#complete ||= isComplete;
  }

  /** Passes on what was received so far, without waiting for more. */
  flush(): void {
    if (!this.#user || this.#streaming) return;
    const held = this.#held;
    this.#streaming = true;
    this.#held = undefined;
    if (held) this.#passBody(held);
    else this.#call(() => this.#user?.onHeadAlone());
  }

  /** The trailers, if any, were received before. */
  onEnd(): void {
    const user = this.#user;
    if (!user || !this.#complete) return;
    if (!this.#begun) return this.#fail(new UpstreamProtocolError('the stream ended without a response'));
    const held = this.#held ?? EMPTY;
    try {
      user.onEnd(held, 0, held.length);
    } catch (error) {
      return this.#fail(error as Error);
    }
    this.#release();
    // The rest of an upload is not wanted.
    if (this.#body && !this.#body.ended) this.#reset(constants.NGHTTP2_CANCEL);
  }

  onError(error: Error): void {
    this.#error = error;
  }

  onClose(): void {
    if (!this.#user) return;
    if (this.#complete && this.#begun) return this.onEnd();
    const { id = 0, rstCode } = this.#stream!;
    const { goaway, isClosed } = this.#session;
    const error = streamError({ id, code: rstCode, error: this.#error, goaway, isSessionClosed: isClosed });
    if (error instanceof UpstreamResetError) this.#session.stats.rqRxReset.value++;
    this.#fail(error);
  }

  #passBody(chunk: Buffer): void {
    this.#call(() => this.#user?.onBody(chunk, 0, chunk.length));
  }

  #call(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(error: Error): void {
    const user = this.#user;
    if (!user) return;
    this.#release();
    this.#reset(error instanceof UpstreamProtocolError ? constants.NGHTTP2_PROTOCOL_ERROR : constants.NGHTTP2_CANCEL);
    if (error instanceof UpstreamProtocolError) this.#session.protocolViolated();
    user.onBroken(this, error);
  }

  #release(): void {
    if (!this.#user) return;
    this.#user = undefined;
    this.#held = undefined;
    this.#session.release(this.#stream !== undefined);
  }

  #reset(code: number): void {
    const stream = this.#stream;
    if (!stream || stream.destroyed || stream.closed) return;
    this.#session.stats.rqTxReset.value++;
    stream.close(code);
  }
}
