import { constants, type OutgoingHttpHeaders } from 'node:http2';
import { checkField } from '../../http1/request-head.ts';
import * as frames from '../../http2/frame-types.ts';
import type { Written } from '../../http2/frame-writer.ts';
import type { DecodedFields } from '../../http2/hpack-decoder.ts';
import { OutgoingStream, type StreamConnection } from '../../http2/outgoing-stream.ts';
import { connectionError } from '../../http2/protocol-errors.ts';
import type { ClientStream, RequestOptions, StreamObserver } from './client-connection.ts';
import { ReceivedResponse } from './received-response.ts';

/** Parts that wait while the stream is paused, before they are joined: many short ones would take far more memory than their bytes. */
const MAX_WAITING_PARTS = 1000;

/** The connection of a stream. */
export interface ClientStreamConnection extends StreamConnection {
  /** Returns the number of the next stream. */
  takeId(): number;
  /** The stream is closed. */
  forget(stream: FrameStream): void;
}

/** A request and its response on a {@link ClientStreamConnection}. */
export class FrameStream extends OutgoingStream implements ClientStream {
  readonly id: number;
  rstCode = 0;
  protected readonly connection: ClientStreamConnection;
  readonly #observer: StreamObserver;
  readonly #message: ReceivedResponse;
  readonly #mayHaveTrailers: boolean;
  #onDrain: (() => void) | undefined;
  #onWantTrailers: (() => void) | undefined;
  /** What the peer may still send, and what was received since it was last told. */
  #receiveWindow: number;
  #received = 0;
  #isPaused = false;
  /** Received while the stream was paused. */
  #waiting: Buffer[] = [];
  #waitingTrailers: readonly string[] | undefined;
  /** The response has arrived completely. */
  #hasEnd = false;

  constructor(
    connection: ClientStreamConnection,
    observer: StreamObserver,
    method: string,
    { endStream, waitForTrailers = false }: RequestOptions,
  ) {
    super(connection);
    this.connection = connection;
    this.#observer = observer;
    this.id = connection.takeId();
    this.#message = new ReceivedResponse(method === 'HEAD');
    this.hasSentEnd = endStream;
    this.#mayHaveTrailers = waitForTrailers;
    this.#receiveWindow = connection.streamWindow;
  }

  /** False while a part of a complete response waits to be read. */
  get destroyed(): boolean {
    return this.closed && !(this.#isPaused && this.#hasEnd);
  }

  write(chunk: Buffer, written?: Written): boolean {
    if (this.closed || this.isEnding || chunk.length === 0) return true;
    return this.enqueue(chunk, written);
  }

  end(chunk?: Buffer): void {
    if (this.closed || this.isEnding) return;
    if (chunk) this.write(chunk);
    this.isEnding = true;
    if (this.#mayHaveTrailers) this.#onWantTrailers?.();
    this.sendLater();
  }

  on(_event: 'drain', listener: () => void): this {
    this.#onDrain = listener;
    return this;
  }

  once(_event: 'wantTrailers', listener: () => void): this {
    this.#onWantTrailers = listener;
    return this;
  }

  /** Throws a `RequestHeadError` for trailers that must not be sent. */
  sendTrailers(trailers: OutgoingHttpHeaders): void {
    const fields = Object.entries(trailers).flatMap(([name, value]) =>
      [value as string | string[]].flat().flatMap((each) => [name, each]),
    );
    for (let i = 0; i < fields.length; i += 2) checkField(fields[i]!, fields[i + 1]!);
    if (fields.length > 0) this.trailers = fields;
  }

  close(code: number): void {
    if (this.closed) return;
    this.rstCode = code;
    this.connection.sendReset(this.id, code);
    this.#finish();
  }

  _read(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let i = 0; i < waiting.length; i++) {
      if (this.#isPaused) this.#waiting.push(waiting[i]!);
      else this.#isPaused = !this.#observer.onData(waiting[i]!);
    }
    if (this.#isPaused || (this.closed && !this.#hasEnd)) return;
    if (this.#hasEnd) this.#passEnd();
    else this.#grant();
  }

  onDataFrame(bytes: number): void {
    if (this.#hasEnd) throw connectionError('STREAM_CLOSED', 'data follows the end of a stream');
    this.#receiveWindow -= bytes;
    this.#received += bytes;
    if (this.#receiveWindow < 0) throw connectionError('FLOW_CONTROL_ERROR', 'a stream sends more than its window');
    if (!this.#message.allowsData) this.#violate();
  }

  /** Receives data; `isLast` if the stream ends with it. */
  onData(chunk: Buffer | undefined, isLast: boolean): void {
    if (!this.#message.receiveData(chunk?.length ?? 0, isLast)) return this.#violate();
    if (chunk) {
      if (this.#isPaused) this.#keep(chunk);
      else this.#isPaused = !this.#observer.onData(chunk);
    }
    if (this.closed) return;
    if (isLast) this.#onEnd();
    else if (!this.#isPaused) this.#grant();
  }

  /** The current frame has padding, which nobody reads. */
  onPadding(): void {
    if (!this.closed && !this.#isPaused) this.#grant();
  }

  /** Receives a head or trailers. */
  onFields({ raw, isTooLong }: DecodedFields, isLast: boolean): void {
    if (this.#hasEnd) throw connectionError('STREAM_CLOSED', 'a head follows the end of a stream');
    const kind = isTooLong ? undefined : this.#message.receiveFields(raw, isLast);
    if (kind === undefined) return this.#violate();
    if (kind === 'interim') this.#observer.onInterim(raw);
    else if (kind === 'head') this.#observer.onHead(raw, isLast ? frames.END_STREAM : 0);
    else if (this.#isPaused) this.#waitingTrailers = raw;
    else this.#observer.onTrailers(raw);
    if (isLast && !this.closed) this.#onEnd();
  }

  onReset(code: number): void {
    this.rstCode = code;
    // The response is complete: only the rest of the request is not wanted.
    if (this.#hasEnd) return this.#stopSending();
    this.#finish();
    this.#observer.onClose();
  }

  /** The peer does not process the stream: it closes the connection. */
  refuse(): void {
    this.onReset(constants.NGHTTP2_REFUSED_STREAM);
  }

  onConnectionEnd(error: Error | undefined): void {
    if (this.#hasEnd) return this.#stopSending();
    this.#finish();
    if (error) this.#observer.onError(error);
    this.#observer.onClose();
  }

  protected onSentEnd(): void {
    if (this.#hasEnd) this.#finish();
  }

  protected onDrain(): void {
    this.#onDrain?.();
  }

  protected onInvalidWindow(isEmpty: boolean): void {
    this.#violate(isEmpty);
  }

  #keep(chunk: Buffer): void {
    this.#waiting.push(chunk);
    if (this.#waiting.length > MAX_WAITING_PARTS) this.#waiting = [Buffer.concat(this.#waiting)];
  }

  /** Grants the window again for what was passed on. */
  #grant(): void {
    if (2 * this.#received < this.connection.streamWindow) return;
    this.connection.sendWindowUpdate(this.id, this.#received);
    this.#receiveWindow += this.#received;
    this.#received = 0;
  }

  #onEnd(): void {
    this.#hasEnd = true;
    if (this.hasSentEnd) this.#finish();
    if (!this.#isPaused) this.#passEnd();
  }

  #passEnd(): void {
    const trailers = this.#waitingTrailers;
    this.#waitingTrailers = undefined;
    if (trailers) this.#observer.onTrailers(trailers);
    this.#observer.onLast(true);
    this.#observer.onEnd();
    // A server that does not read the rest of a request would keep the stream open.
    if (this.isEnding && !this.closed) this.close(constants.NGHTTP2_CANCEL);
  }

  /** The peer violates the protocol on this stream. */
  #violate(isProtocol = true): void {
    if (this.closed) return;
    this.close(isProtocol ? constants.NGHTTP2_PROTOCOL_ERROR : constants.NGHTTP2_FLOW_CONTROL_ERROR);
    this.#observer.onClose();
  }

  #stopSending(): void {
    this.isEnding = true;
    this.#finish();
  }

  #finish(): void {
    this.closed = true;
    this.dropQueue();
    if (!this.#hasEnd) this.#waiting = [];
    this.connection.forget(this);
  }
}
