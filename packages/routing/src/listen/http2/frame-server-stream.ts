import { constants, type OutgoingHttpHeaders } from 'node:http2';
import { HIGH_WATER_BYTES, OutgoingStream, type StreamConnection } from '../../http2/outgoing-stream.ts';
import type { Written } from '../../http2/frame-writer.ts';
import type { DecodedFields } from '../../http2/hpack-decoder.ts';
import { connectionError } from '../../http2/protocol-errors.ts';
import { ReceivedMessage } from '../../http2/received-message.ts';
import { currentDate } from '../http1/current-date.ts';
import { areTrailers } from './request-fields.ts';
import type { Http2Head } from './http2-head.ts';

const NO_ERROR = constants.NGHTTP2_NO_ERROR;
/** Statuses of responses without a body. */
const BODILESS: ReadonlySet<string> = new Set(['204', '205', '304']);

export interface RespondOptions {
  /** True if no body follows. */
  readonly endStream: boolean;
  /** True if trailers may follow the body. */
  readonly waitForTrailers: boolean;
  /** True if a `date` is added. */
  readonly sendDate: boolean;
}

/** Receives the body of a request. */
export interface BodyReader {
  /** Receives a part of the body. */
  deliver(chunk: Buffer): void;
  receiveTrailers(raw: string[]): void;
  /** The request is complete. */
  finish(): void;
}

/** The connection of a stream. */
export interface ServerStreamConnection extends StreamConnection {
  /** The stream has ended; `isReset` if this side has reset it, so that more of it may still arrive. */
  forget(stream: FrameServerStream, isReset?: boolean): void;
  /** Data that was received has been read, or will never be. */
  consumed(bytes: number): void;
  /** The client has violated the protocol on one stream. */
  violated(): void;
}

/** The body of a request has the declared length. */
class ReceivedRequest extends ReceivedMessage {
  readonly isValid: boolean;

  constructor({ method, rawHeaders }: Http2Head, isLast: boolean) {
    super();
    // The content of a tunnel has no length.
    this.isValid = method === 'CONNECT' || (this.readLength(rawHeaders, 0) && !(isLast && this.left));
  }

  get isComplete(): boolean {
    return !this.left;
  }
}

/** A request and its response on a {@link ServerStreamConnection}. */
export class FrameServerStream extends OutgoingStream {
  readonly id: number;
  readonly endAfterHeaders: boolean;
  readonly writableHighWaterMark = HIGH_WATER_BYTES;
  destroyed = false;
  aborted = false;
  rstCode = 0;
  writableFinished = false;
  protected readonly connection: ServerStreamConnection;
  readonly #isHead: boolean;
  readonly #message: ReceivedRequest;
  #reader: BodyReader | undefined;
  /** What arrived before there was a reader. */
  #early: Buffer[] | undefined;
  #earlyTrailers: string[] | undefined;
  /** What the client may still send, and what was read since it was last told. */
  #receiveWindow: number;
  #consumed = 0;
  /** The request has arrived completely. */
  #hasEnd: boolean;
  #mayHaveTrailers = false;
  #onClose: (() => void) | undefined;
  #onAborted: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  #onWantTrailers: (() => void) | undefined;
  #onFinish: (() => void)[] | undefined;

  /** `isLast` if the request has no body. */
  constructor(connection: ServerStreamConnection, id: number, head: Http2Head, isLast: boolean) {
    super(connection);
    this.connection = connection;
    this.id = id;
    this.#isHead = head.method === 'HEAD';
    this.#message = new ReceivedRequest(head, isLast);
    this.#receiveWindow = connection.streamWindow;
    this.#hasEnd = this.endAfterHeaders = isLast;
  }

  /** False for a request whose body cannot have the length that its head declares. */
  get isValid(): boolean {
    return this.#message.isValid;
  }

  /** Passes the body on as it arrives: its reader limits what it holds by {@link consumed}. */
  readBody(reader: BodyReader): void {
    this.#reader = reader;
    const early = this.#early;
    this.#early = undefined;
    for (const chunk of early ?? []) reader.deliver(chunk);
    if (!this.#hasEnd || this.closed) return;
    if (this.#earlyTrailers) reader.receiveTrailers(this.#earlyTrailers);
    reader.finish();
  }

  /** Sends the head of the response. */
  respond(fields: string[], { endStream, waitForTrailers, sendDate }: RespondOptions): void {
    if (this.closed || this.hasSentEnd) return;
    const isLast = endStream || this.#isHead || BODILESS.has(fields[1]!);
    if (sendDate && !hasDate(fields)) fields.push('date', currentDate());
    this.#mayHaveTrailers = waitForTrailers && !isLast;
    this.connection.sendFields(this.id, fields, isLast);
    if (!isLast) return;
    this.isEnding = this.hasSentEnd = true;
    this.onSentEnd();
  }

  /** Sends the head of an interim response. */
  additionalHeaders(headers: OutgoingHttpHeaders): void {
    if (this.closed || this.hasSentEnd) return;
    // Pseudo-header fields come first.
    const { ':status': status, ...others } = headers;
    this.connection.sendFields(this.id, [':status', String(status), ...flatOf(others)], false);
  }

  /** Called by the listener of `wantTrailers`. */
  sendTrailers(fields: string[]): void {
    if (fields.length > 0) this.trailers = fields;
  }

  /** Returns false if the listener of `drain` shall be waited for. */
  write(chunk: string | Uint8Array, encoding?: BufferEncoding, written?: Written): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : asBuffer(chunk);
    if (this.closed || this.isEnding || bytes.length === 0) {
      if (written) process.nextTick(written, this.closed ? new Error('the stream is closed') : undefined);
      return true;
    }
    return this.enqueue(bytes, written);
  }

  end(chunk?: string | Uint8Array, encoding?: BufferEncoding): void {
    if (this.closed || this.isEnding) return;
    if (chunk !== undefined) this.write(chunk, encoding);
    this.isEnding = true;
    if (this.#mayHaveTrailers) this.#onWantTrailers?.();
    this.sendLater();
  }

  /** Resets the stream, by default without an error. */
  close(code = NO_ERROR): void {
    this.#close(code);
  }

  destroy(error?: Error): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.close(error ? constants.NGHTTP2_INTERNAL_ERROR : NO_ERROR);
  }

  on(event: 'close' | 'aborted', listener: () => void): this {
    if (event === 'close') this.#onClose = listener;
    else this.#onAborted = listener;
    return this;
  }

  once(event: 'drain' | 'finish' | 'wantTrailers', listener: () => void): this {
    if (event === 'drain') this.#onDrain = listener;
    else if (event === 'wantTrailers') this.#onWantTrailers = listener;
    else (this.#onFinish ??= []).push(listener);
    return this;
  }

  /** The reader has read this many bytes, or dropped them. */
  consumed(bytes: number): void {
    this.connection.consumed(bytes);
    this.#consumed += bytes;
    if (this.#hasEnd || this.closed || 2 * this.#consumed < this.connection.streamWindow) return;
    this.connection.sendWindowUpdate(this.id, this.#consumed);
    this.#receiveWindow += this.#consumed;
    this.#consumed = 0;
  }

  onDataFrame(bytes: number): void {
    if (this.#hasEnd) throw connectionError('STREAM_CLOSED', 'data follows the end of a stream');
    this.#receiveWindow -= bytes;
    if (this.#receiveWindow < 0) throw connectionError('FLOW_CONTROL_ERROR', 'a stream sends more than its window');
  }

  onData(chunk: Buffer | undefined, isLast: boolean): void {
    if (!this.#message.receiveData(chunk?.length ?? 0, isLast)) {
      if (chunk) this.consumed(chunk.length);
      return this.#violate(constants.NGHTTP2_PROTOCOL_ERROR);
    }
    if (isLast) this.#hasEnd = true;
    if (chunk) {
      if (this.#reader) this.#reader.deliver(chunk);
      else (this.#early ??= []).push(chunk);
    }
    if (isLast) this.#onEnd();
  }

  /** Receives trailers. */
  onFields({ raw, isTooLong }: DecodedFields, isLast: boolean): void {
    if (this.#hasEnd) throw connectionError('STREAM_CLOSED', 'a head follows the end of a stream');
    if (!isLast || isTooLong || !this.#message.isComplete || !areTrailers(raw))
      return this.#violate(isTooLong ? constants.NGHTTP2_ENHANCE_YOUR_CALM : constants.NGHTTP2_PROTOCOL_ERROR);
    this.#hasEnd = true;
    if (this.#reader) this.#reader.receiveTrailers([...raw]);
    else this.#earlyTrailers = [...raw];
    this.#onEnd();
  }

  onReset(code: number): void {
    this.rstCode = code;
    this.#abort();
  }

  onConnectionEnd(): void {
    this.#abort();
  }

  protected onSentEnd(): void {
    this.connection.whenWritten(this.#onWritten);
    // The client cannot send more: only its confirmation of what was sent is missing.
    if (this.#hasEnd) this.connection.forget(this);
  }

  protected onDrain(): void {
    const listener = this.#onDrain;
    this.#onDrain = undefined;
    listener?.();
  }

  protected onInvalidWindow(isEmpty: boolean): void {
    this.#violate(isEmpty ? constants.NGHTTP2_PROTOCOL_ERROR : constants.NGHTTP2_FLOW_CONTROL_ERROR);
  }

  /** The response was sent completely, or with `error` will never be: its connection no longer knows the stream. */
  readonly #onWritten = (error?: Error | null): void => {
    if (this.closed) return;
    if (error) return this.#abort();
    this.writableFinished = true;
    for (const listener of this.#onFinish ?? []) listener();
    if (this.#hasEnd) this.#close();
  };

  #onEnd(): void {
    if (this.closed) return;
    this.#reader?.finish();
    if (this.closed || !this.hasSentEnd) return;
    this.connection.forget(this);
    if (this.writableFinished) this.#close();
  }

  #violate(code: number): void {
    if (this.closed) return;
    this.connection.violated();
    this.#abort(code);
  }

  /** The response will not be sent completely, or the rest of the request does not arrive. */
  #abort(code?: number): void {
    if (this.closed) return;
    if (!this.writableFinished) {
      this.aborted = true;
      this.#onAborted?.();
    }
    this.#close(code);
  }

  /** With `code`, this side resets the stream. */
  #close(code?: number): void {
    if (this.closed) return;
    this.closed = true;
    if (code !== undefined) {
      this.sendQueued();
      this.connection.sendReset(this.id, code);
    }
    this.dropQueue();
    for (const chunk of this.#early ?? []) this.consumed(chunk.length);
    this.#early = undefined;
    this.connection.forget(this, code !== undefined && !this.#hasEnd);
    this.#onClose?.();
    this.destroyed = true;
  }
}

function flatOf(headers: OutgoingHttpHeaders): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value as string | string[]].flat().flatMap((each) => [name, String(each)]),
  );
}

function hasDate(fields: readonly string[]): boolean {
  for (let i = 2; i < fields.length; i += 2) if (fields[i] === 'date') return true;
  return false;
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
