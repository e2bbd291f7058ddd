import { IncomingMessage } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { refusal, type Refusal } from '../../check/refusal.ts';
import { trimValues } from '../../http1/field-value.ts';
import { forbiddenTrailer } from '../../http1/trailers.ts';
import type { ListenLimits } from '../limits.ts';
import type { Http2Head } from './http2-head.ts';

const REQUEST = Symbol('edge-gateway.http2-request');
type Carrier = ServerHttp2Stream & { [REQUEST]: Http2Request };

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
export class Http2Request extends IncomingMessage {
  readonly stream: ServerHttp2Stream;
  readonly isHttp2 = true;
  readonly limits: Pick<ListenLimits, 'maxBodyBytes' | 'maxHeaders' | 'streamIdleTimeoutMs'>;
  #observer: RequestObserver | undefined;
  #bytes = 0;
  #held = 0;
  #reads = false;
  #isStopped = false;
  #isReset = false;
  #isUnlimited = false;
  /** True once it is a tunnel: the client may send data without limits, also after the end of the response. */
  isTunnel = false;

  constructor(stream: ServerHttp2Stream, head: Http2Head, socket: Socket, limits: ListenLimits) {
    super(socket);
    this.stream = stream;
    this.limits = limits;
    this.httpVersion = '2.0';
    this.httpVersionMajor = 2;
    this.httpVersionMinor = 0;
    this.method = head.method;
    this.url = head.url;
    this.rawHeaders = head.rawHeaders;
    this.headers = head.headers;
    if (stream.readableEnded || stream.endAfterHeaders) {
      this.complete = true;
      this.push(null);
    } else {
      (stream as Carrier)[REQUEST] = this;
      stream.on('trailers', onTrailers);
      // A stream without a reader reports no data.
      stream.push = pushCounted;
    }
  }

  set observer(observer: RequestObserver) {
    this.#observer = observer;
  }

  /** Disables the body limits, because the data belongs to a tunnel if the request is accepted. */
  lift(): void {
    this.#isUnlimited = true;
    this.#observer?.onComplete();
  }

  /** Marks a body of unknown length, as HTTP/1.1 does: what is sent on depends on it. */
  frame(): void {
    if (this.complete || this.headers['content-length'] !== undefined) return;
    this.headers['transfer-encoding'] = 'chunked';
    this.rawHeaders.push('transfer-encoding', 'chunked');
  }

  override _read(): void {
    if (this.complete || this.#isStopped) return;
    if (this.#reads) return void this.stream.resume();
    this.#reads = true;
    this.stream.on('data', onData).on('end', onEnd);
  }

  override read(size?: number): unknown {
    const chunk: unknown = super.read(size);
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
    if (this.complete || this.destroyed) return;
    this.#isStopped = true;
    this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  }

  /** Queues a part of the body until it is read. */
  arrive(chunk: Buffer): void {
    this.#observer?.onFrame(chunk.length);
    this.count(chunk.length);
  }

  /** Ends the body. Node ends a stream that the client has reset like a complete one, but closes it first. */
  last(): void {
    this.#isReset = this.stream.closed;
  }

  /** Counts the unread bytes. */
  count(added = 0): void {
    const held = this.readableLength + this.stream.readableLength + added;
    if (held === this.#held) return;
    this.#observer?.onHeld(held - this.#held);
    this.#held = held;
  }

  /** Releases all unread bytes. */
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
    if (!this.push(chunk)) this.stream.pause();
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
    if (this.#isReset || this.stream.aborted) return this.abort();
    this.complete = true;
    this.#observer?.onComplete();
    this.push(null);
  }

  #stop(refused: Refusal): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#observer?.onProblem(refused);
  }
}

const push = Readable.prototype.push;

function pushCounted(this: ServerHttp2Stream, chunk: Buffer | null): boolean {
  if (chunk) (this as Carrier)[REQUEST].arrive(chunk);
  else (this as Carrier)[REQUEST].last();
  return push.call(this, chunk);
}

function onData(this: ServerHttp2Stream, chunk: Buffer): void {
  (this as Carrier)[REQUEST].receive(chunk);
}

function onEnd(this: ServerHttp2Stream): void {
  (this as Carrier)[REQUEST].finish();
}

function onTrailers(this: ServerHttp2Stream, _headers: object, _flags: number, raw: string[]): void {
  (this as Carrier)[REQUEST].receiveTrailers(raw);
}
