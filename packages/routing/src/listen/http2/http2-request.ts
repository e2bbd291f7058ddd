import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { refusal, type Refusal } from '../../check/refusal.ts';
import { hasOwned, pushOwned, readOwned } from '../../http1/owned-chunk.ts';
import { isFreeable } from '../../http1/spare-buffers.ts';
import { trimValues } from '../../http1/field-value.ts';
import { forbiddenTrailer } from '../../http1/trailers.ts';
import type { ListenLimits } from '../limits.ts';
import type { Http2Head } from './http2-head.ts';
import type { BodyReader, FrameServerStream } from './frame-server-stream.ts';
import { WaitingBody } from './waiting-body.ts';

/** What follows the head of a request. */
export interface RequestObserver {
  /** More of the body was received. */
  onProgress(): void;
  /** A frame of the body was received. */
  onFrame(bytes: number): void;
  /** Called when the number of unread body bytes changes. */
  onHeld(change: number): void;
  /** The request was received completely. */
  onComplete(): void;
  /** The body or the trailers are invalid, or too large. */
  onProblem(refused: Refusal): void;
}

/** A request of an HTTP/2 connection, with the interface of one over HTTP/1.1. Its body is read from the connection only as it is consumed. */
export class Http2Request extends IncomingMessage implements BodyReader {
  readonly stream: FrameServerStream;
  readonly isHttp2 = true;
  readonly limits: Pick<ListenLimits, 'maxBodyBytes' | 'maxHeaders' | 'streamIdleTimeoutMs'>;
  #observer: RequestObserver | undefined;
  #bytes = 0;
  #held = 0;
  #isStopped = false;
  /** What was received while its reader was slower. */
  #waiting: WaitingBody | undefined;
  #isUnlimited = false;
  /** True once it is a tunnel: the client may send data without limits, also after the end of the response. */
  isTunnel = false;

  constructor(stream: FrameServerStream, head: Http2Head, socket: Socket, limits: ListenLimits) {
    super(socket);
    this.stream = stream;
    this.limits = limits;
    this.httpVersion = '2.0';
    this.httpVersionMajor = 2;
    this.httpVersionMinor = 0;
    this.method = head.method;
    this.url = head.url;
    (this as unknown as Internals)._addHeaderLines(head.rawHeaders, head.rawHeaders.length);
    if (!stream.endAfterHeaders) return;
    this.complete = true;
    this.push(null);
  }

  set observer(observer: RequestObserver) {
    this.#observer = observer;
  }

  /** Receives what the client has already sent of the body, and what follows. */
  receiveBody(): void {
    if (!this.complete) this.stream.readBody(this);
  }

  /** Disables the body limits, because the data belongs to a tunnel if the request is accepted. */
  removeBodyLimits(): void {
    this.#isUnlimited = true;
    this.#observer?.onComplete();
  }

  /** Marks a body of unknown length, as HTTP/1.1 does: what is sent on depends on it. */
  markChunked(): void {
    if (this.complete || this.headers['content-length'] !== undefined) return;
    this.headers['transfer-encoding'] = 'chunked';
    this.rawHeaders.push('transfer-encoding', 'chunked');
  }

  override _read(): void {
    // What the client may send depends on what was read, see `count`.
  }

  override read(size?: number): unknown {
    const chunk: unknown = hasOwned(this) ? readOwned(this, () => super.read(size)) : super.read(size);
    if (this.#waiting && this.readableLength === 0) this.#passWaiting(this.#waiting);
    if (this.#held > 0) this.count();
    return chunk;
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.readableEnded || !this.complete) {
      this.aborted = true;
      this.emit('aborted');
    }
    // Only this stream ends, not the connection.
    if (!this.complete && !this.stream.destroyed) this.stream.destroy(error ?? undefined);
    done(this.listenerCount('error') > 0 ? error : null);
  }

  override setTimeout(): this {
    return this;
  }

  /** The client has reset the stream, or the connection is closed. */
  abort(): void {
    if (this.destroyed || (this.complete && !this.#isUnread)) return;
    this.#isStopped = true;
    this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  }

  /** Receives a part of the body. */
  deliver(chunk: Buffer): void {
    this.#observer?.onFrame(chunk.length);
    this.#held += chunk.length;
    if (!this.destroyed && (this.#waiting || this.readableLength > 0)) (this.#waiting ??= new WaitingBody()).add(chunk);
    else this.receive(chunk);
    this.count();
  }

  /** Counts the unread bytes. */
  count(): void {
    const held = this.readableLength + (this.#waiting?.bytes ?? 0);
    if (held === this.#held) return;
    this.#observer?.onHeld(held - this.#held);
    this.#held = held;
  }

  /** A request is complete when it was received, not when it was read. What a tunnel has received is still passed on. */
  get #isUnread(): boolean {
    return !this.isTunnel && (this.readableLength > 0 || this.#waiting !== undefined);
  }

  /** Releases all bytes that will no longer be read. */
  release(): void {
    if (this.#held > 0) this.#observer?.onHeld(-this.#held);
    this.#held = 0;
  }

  receive(chunk: Buffer): void {
    if (this.#isStopped) return;
    const { maxBodyBytes } = this.limits;
    this.#bytes += chunk.length;
    if (maxBodyBytes > 0 && !this.#isUnlimited && this.#bytes > maxBodyBytes)
      return this.#stop(refusal('ERR_ROUTING_BODY_TOO_LARGE'));
    this.#observer?.onProgress();
    if (isFreeable(chunk)) pushOwned(this, chunk, (owned) => this.push(owned));
    else this.push(chunk);
    this.count();
  }

  receiveTrailers(raw: string[]): void {
    if (raw.length > 2 * this.limits.maxHeaders) return this.#stop(refusal('ERR_ROUTING_TOO_MANY_HEADERS'));
    const detail = forbiddenTrailer(raw);
    if (detail !== undefined) return this.#stop(refusal('ERR_ROUTING_BAD_TRAILER', { detail }));
    trimValues(raw);
    this.rawTrailers = raw;
  }

  finish(): void {
    if (this.#isStopped) return;
    if (this.stream.aborted) return this.abort();
    this.complete = true;
    this.#observer?.onComplete();
    if (!this.#waiting) this.push(null);
  }

  /** Passes on what waits, part by part: the next one when the one before was read. */
  #passWaiting(waiting: WaitingBody): void {
    while (this.readableLength === 0 && !this.#isStopped) {
      const part = waiting.shift();
      if (!part) break;
      this.receive(part);
    }
    if (waiting.bytes > 0 && !this.#isStopped) return;
    this.#waiting = undefined;
    if (this.complete && !this.#isStopped && !this.destroyed) this.push(null);
  }

  #stop(refused: Refusal): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#observer?.onProblem(refused);
  }
}

/** The part of the state of `IncomingMessage` that its parser sets. */
interface Internals {
  _addHeaderLines(raw: string[], length: number): void;
}
