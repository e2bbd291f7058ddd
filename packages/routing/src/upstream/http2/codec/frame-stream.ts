import { constants, type OutgoingHttpHeaders } from 'node:http2';
import type { ClientStream, RequestOptions, StreamObserver } from '../client-connection.ts';
import * as frames from './frame-types.ts';
import { frameHead, uint32 } from './frame-types.ts';
import type { DecodedFields } from './hpack-decoder.ts';
import type { PeerSettings } from './peer-settings.ts';
import { connectionError } from './protocol-errors.ts';
import { ReceivedResponse } from './received-response.ts';

/** Data that waits to be sent before its source is paused. */
const HIGH_WATER_BYTES = 64 * 1024;

/** The connection of a stream. */
export interface StreamConnection {
  readonly settings: PeerSettings;
  readonly streamWindow: number;
  /** What may still be sent on the connection. */
  sendWindow: number;
  /** Returns the number of the next stream. */
  takeId(): number;
  send(text: string): void;
  sendData(head: string, data: Buffer): void;
  sendTrailers(id: number, fields: readonly string[]): void;
  /** The stream has data to send, and its window allows it. */
  hasDataToSend(stream: FrameStream): void;
  /** The stream has nothing to send for now. */
  cannotSend(stream: FrameStream): void;
  /** The stream is closed. */
  forget(stream: FrameStream): void;
}

/** A request and its response on a {@link StreamConnection}. */
export class FrameStream implements ClientStream {
  readonly id: number;
  rstCode = 0;
  /** Both sides have ended, or the stream was reset. */
  closed = false;
  readonly #connection: StreamConnection;
  readonly #observer: StreamObserver;
  readonly #message: ReceivedResponse;
  readonly #mayHaveTrailers: boolean;
  /** What may still be sent. */
  #sendWindow: number;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #isEnding = false;
  #hasSentEnd: boolean;
  #trailers: readonly string[] | undefined;
  #needsDrain = false;
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
    connection: StreamConnection,
    observer: StreamObserver,
    method: string,
    { endStream, waitForTrailers = false }: RequestOptions,
  ) {
    this.#connection = connection;
    this.#observer = observer;
    this.id = connection.takeId();
    this.#message = new ReceivedResponse(method === 'HEAD');
    this.#hasSentEnd = endStream;
    this.#mayHaveTrailers = waitForTrailers;
    this.#sendWindow = connection.settings.initialWindow;
    this.#receiveWindow = connection.streamWindow;
  }

  /** False while a part of a complete response waits to be read. */
  get destroyed(): boolean {
    return this.closed && !(this.#isPaused && this.#hasEnd);
  }

  write(chunk: Buffer): boolean {
    if (this.closed || this.#isEnding || chunk.length === 0) return true;
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#sendLater();
    this.#needsDrain = this.#queuedBytes >= HIGH_WATER_BYTES;
    return !this.#needsDrain;
  }

  end(chunk?: Buffer): void {
    if (this.closed || this.#isEnding) return;
    if (chunk) this.write(chunk);
    this.#isEnding = true;
    if (this.#mayHaveTrailers) this.#onWantTrailers?.();
    if (!this.closed) this.#sendLater();
  }

  on(_event: 'drain', listener: () => void): this {
    this.#onDrain = listener;
    return this;
  }

  once(_event: 'wantTrailers', listener: () => void): this {
    this.#onWantTrailers = listener;
    return this;
  }

  sendTrailers(trailers: OutgoingHttpHeaders): void {
    const fields = Object.entries(trailers).flatMap(([name, value]) =>
      [value as string | string[]].flat().flatMap((each) => [name, each]),
    );
    if (fields.length > 0) this.#trailers = fields;
  }

  close(code: number): void {
    if (this.closed) return;
    this.rstCode = code;
    this.#connection.send(frameHead(4, frames.RST_STREAM, 0, this.id) + uint32(code));
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
    if (this.#isPaused) return;
    if (this.#hasEnd) this.#passEnd();
    else this.#grant();
  }

  /** Called in turn while the stream has data to send, see `SendingStream`. */
  sendFrame(): boolean {
    const connection = this.#connection;
    const chunk = this.#queue[0];
    if (!chunk) {
      connection.cannotSend(this);
      return this.#sendEnd();
    }
    if (connection.sendWindow <= 0) return false;
    const length = Math.min(chunk.length, connection.settings.maxFrameBytes, connection.sendWindow, this.#sendWindow);
    if (length <= 0) {
      connection.cannotSend(this);
      return false;
    }
    this.#take(chunk, length);
    const isLast = this.#queue.length === 0 && this.#isEnding && !this.#trailers;
    connection.sendData(
      frameHead(length, frames.DATA, isLast ? frames.END_STREAM : 0, this.id),
      chunk.subarray(0, length),
    );
    if (isLast) this.#sentEnd();
    else if (this.#needsDrain && this.#queuedBytes < HIGH_WATER_BYTES) {
      this.#needsDrain = false;
      this.#onDrain?.();
    }
    return true;
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
      if (this.#isPaused) this.#waiting.push(chunk);
      else this.#isPaused = !this.#observer.onData(chunk);
    }
    if (this.closed) return;
    if (isLast) this.#onEnd();
    else if (!this.#isPaused) this.#grant();
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

  onWindowUpdate(bytes: number): void {
    this.#sendWindow += bytes;
    if (bytes === 0 || this.#sendWindow > frames.LARGEST_WINDOW) return this.#violate(bytes === 0);
    this.#sendLater();
  }

  /** The initial window of the peer changed. */
  changeWindow(change: number): void {
    this.#sendWindow += change;
    if (this.#sendWindow > frames.LARGEST_WINDOW) throw connectionError('FLOW_CONTROL_ERROR', 'a window is too large');
    this.#sendLater();
  }

  #take(chunk: Buffer, length: number): void {
    this.#connection.sendWindow -= length;
    this.#sendWindow -= length;
    this.#queuedBytes -= length;
    if (length === chunk.length) this.#queue.shift();
    else this.#queue[0] = chunk.subarray(length);
  }

  #sendLater(): void {
    if (this.closed || this.#hasSentEnd) return;
    if (this.#queue.length === 0 ? this.#isEnding : this.#sendWindow > 0) this.#connection.hasDataToSend(this);
  }

  #sendEnd(): boolean {
    if (!this.#isEnding || this.#hasSentEnd) return false;
    if (this.#trailers) this.#connection.sendTrailers(this.id, this.#trailers);
    else this.#connection.send(frameHead(0, frames.DATA, frames.END_STREAM, this.id));
    this.#sentEnd();
    return true;
  }

  #sentEnd(): void {
    this.#hasSentEnd = true;
    if (this.#hasEnd) this.#finish();
    else this.#connection.cannotSend(this);
  }

  /** Grants the window again for what was passed on. */
  #grant(): void {
    if (2 * this.#received < this.#connection.streamWindow) return;
    this.#connection.send(frameHead(4, frames.WINDOW_UPDATE, 0, this.id) + uint32(this.#received));
    this.#receiveWindow += this.#received;
    this.#received = 0;
  }

  #onEnd(): void {
    this.#hasEnd = true;
    if (this.#hasSentEnd) this.#finish();
    if (!this.#isPaused) this.#passEnd();
  }

  #passEnd(): void {
    const trailers = this.#waitingTrailers;
    this.#waitingTrailers = undefined;
    if (trailers) this.#observer.onTrailers(trailers);
    this.#observer.onLast(true);
    this.#observer.onEnd();
  }

  /** The peer violates the protocol on this stream. */
  #violate(isProtocol = true): void {
    if (this.closed) return;
    this.close(isProtocol ? constants.NGHTTP2_PROTOCOL_ERROR : constants.NGHTTP2_FLOW_CONTROL_ERROR);
    this.#observer.onClose();
  }

  #stopSending(): void {
    this.#isEnding = true;
    this.#finish();
  }

  #finish(): void {
    this.closed = true;
    this.#queue = [];
    if (!this.#hasEnd) this.#waiting = [];
    this.#connection.forget(this);
  }
}
