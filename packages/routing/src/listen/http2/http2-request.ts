import { IncomingMessage } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { refusal, type Refusal } from '../../check/refusal.ts';
import { hasOwned, pushOwned, readOwned } from '../../http1/owned-chunk.ts';
import { isFreeable } from '../../http1/spare-buffers.ts';
import { trimValues } from '../../http1/field-value.ts';
import { forbiddenTrailer } from '../../http1/trailers.ts';
import type { ListenLimits } from '../limits.ts';
import type { Http2Head } from './http2-head.ts';
import type { BodyReader, ServerStream } from './server-stream.ts';
import { WaitingBody } from './waiting-body.ts';

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
export class Http2Request extends IncomingMessage implements BodyReader {
  readonly stream: ServerStream;
  readonly isHttp2 = true;
  readonly limits: Pick<ListenLimits, 'maxBodyBytes' | 'maxHeaders' | 'streamIdleTimeoutMs'>;
  #observer: RequestObserver | undefined;
  #bytes = 0;
  #held = 0;
  #reads = false;
  #isStopped = false;
  #isReset = false;
  /** Of a direct stream: what was received while its reader was slower. */
  #waiting: WaitingBody | undefined;
  #isUnlimited = false;
  /** True once it is a tunnel: the client may send data without limits, also after the end of the response. */
  isTunnel = false;

  constructor(stream: ServerStream, head: Http2Head, socket: Socket, limits: ListenLimits) {
    super(socket);
    this.stream = stream;
    this.limits = limits;
    this.httpVersion = '2.0';
    this.httpVersionMajor = 2;
    this.httpVersionMinor = 0;
    this.method = head.method;
    this.url = head.url;
    if (head.headers) {
      this.rawHeaders = head.rawHeaders;
      this.headers = head.headers;
    } else (this as unknown as Internals)._addHeaderLines(head.rawHeaders, head.rawHeaders.length);
    if (stream.endAfterHeaders || (stream.readableEnded && !stream.isDirect)) {
      this.complete = true;
      this.push(null);
    } else if (!stream.isDirect) readNodeStream(stream as unknown as Carrier, this);
  }

  set observer(observer: RequestObserver) {
    this.#observer = observer;
  }

  /** Receives what the client has already sent of the body, and what follows. */
  receiveBody(): void {
    if (!this.complete) this.stream.readBody?.(this);
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
    if (this.complete || this.#isStopped || this.stream.isDirect) return;
    if (this.#reads) return void this.stream.resume();
    this.#reads = true;
    (this.stream as unknown as Carrier).on('data', onData).on('end', onEnd);
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

  /** Queues a part of the body until it is read. */
  arrive(chunk: Buffer): void {
    this.#observer?.onFrame(chunk.length);
    this.count(chunk.length);
  }

  /** Receives a part of the body of a direct stream, which limits what waits in memory by what was read. */
  deliver(chunk: Buffer): void {
    this.#observer?.onFrame(chunk.length);
    this.#held += chunk.length;
    if (!this.destroyed && (this.#waiting || this.readableLength > 0)) (this.#waiting ??= new WaitingBody()).add(chunk);
    else this.receive(chunk);
    this.count();
  }

  /** Ends the body. Node ends a stream that the client has reset like a complete one, but closes it first. */
  last(): void {
    this.#isReset = this.stream.closed;
  }

  /** Counts the unread bytes. */
  count(added = 0): void {
    const held = this.readableLength + this.stream.readableLength + (this.#waiting?.bytes ?? 0) + added;
    if (held === this.#held) return;
    this.#observer?.onHeld(held - this.#held);
    this.#held = held;
  }

  /** A direct stream is complete when it was received, not when it was read. What a tunnel has received is still passed on. */
  get #isUnread(): boolean {
    return this.stream.isDirect === true && !this.isTunnel && (this.readableLength > 0 || this.#waiting !== undefined);
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
    // The buffers of Node are views of what a connection has read.
    if (this.stream.isDirect && isFreeable(chunk)) pushOwned(this, chunk, (owned) => this.push(owned));
    else if (!this.push(chunk)) this.stream.pause();
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

function readNodeStream(stream: Carrier, req: Http2Request): void {
  stream[REQUEST] = req;
  stream.on('trailers', onTrailers);
  // A stream without a reader reports no data.
  stream.push = pushCounted;
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
