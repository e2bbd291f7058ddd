import * as frames from './frame-types.ts';
import { frameHead } from './frame-types.ts';
import type { SendingStream, Written } from './frame-writer.ts';
import type { PeerSettings } from './peer-settings.ts';
import { connectionError } from './protocol-errors.ts';

/** Data that waits to be sent before its source is paused. */
export const HIGH_WATER_BYTES = 64 * 1024;

/** The connection of a stream. */
export interface StreamConnection {
  readonly settings: PeerSettings;
  readonly streamWindow: number;
  /** What may still be sent on the connection. */
  sendWindow: number;
  /** True while the peer does not read what was sent. */
  readonly isBlocked: boolean;
  send(text: string): void;
  sendData(head: string, data: Buffer): void;
  sendFields(id: number, fields: readonly string[], isLast: boolean): void;
  sendReset(id: number, code: number): void;
  sendWindowUpdate(id: number, bytes: number): void;
  /** Calls back when everything that was sent until now was written to the socket. */
  whenWritten(callback: Written): void;
  /** The stream has data to send, and its window allows it. */
  hasDataToSend(stream: SendingStream): void;
  /** The stream has nothing to send for now. */
  cannotSend(stream: SendingStream): void;
}

/** The sending side of a stream, with flow control. */
export abstract class OutgoingStream implements SendingStream {
  abstract readonly id: number;
  /** Both sides have ended, or the stream was reset. */
  closed = false;
  protected hasSentEnd = false;
  protected isEnding = false;
  /** Sent behind the data. */
  protected trailers: readonly string[] | undefined;
  protected abstract readonly connection: StreamConnection;
  #window: number;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** For the chunks of the queue; missing as long as no chunk has one. */
  #callbacks: (Written | undefined)[] | undefined;
  #needsDrain = false;

  constructor({ settings }: StreamConnection) {
    this.#window = settings.initialWindow;
  }

  get writableLength(): number {
    return this.#queuedBytes;
  }

  get writableNeedDrain(): boolean {
    return this.#needsDrain;
  }

  /** Called in turn while the stream has data to send, see `SendingStream`. */
  sendFrame(): boolean {
    const { connection } = this;
    const chunk = this.#queue[0];
    if (!chunk) {
      connection.cannotSend(this);
      return this.#sendEnd();
    }
    if (connection.sendWindow <= 0) return false;
    const length = Math.min(chunk.length, connection.settings.maxFrameBytes, connection.sendWindow, this.#window);
    if (length <= 0) {
      connection.cannotSend(this);
      return false;
    }
    const written = this.#take(chunk, length);
    const isLast = this.#queue.length === 0 && this.isEnding && !this.trailers;
    const flags = isLast ? frames.END_STREAM : 0;
    connection.sendData(frameHead(length, frames.DATA, flags, this.id), chunk.subarray(0, length));
    if (written) connection.whenWritten(written);
    if (isLast) this.#sentEnd();
    else if (this.#needsDrain && this.#queuedBytes < HIGH_WATER_BYTES) {
      this.#needsDrain = false;
      this.onDrain();
    }
    return true;
  }

  onWindowUpdate(bytes: number): void {
    this.#window += bytes;
    if (bytes === 0 || this.#window > frames.LARGEST_WINDOW) return this.onInvalidWindow(bytes === 0);
    this.sendLater();
  }

  changeWindow(change: number): void {
    this.#window += change;
    if (this.#window > frames.LARGEST_WINDOW) throw connectionError('FLOW_CONTROL_ERROR', 'a window is too large');
    this.sendLater();
  }

  /** The end of the stream was sent. */
  protected abstract onSentEnd(): void;
  /** More can be sent after {@link enqueue} returned false. */
  protected abstract onDrain(): void;
  /** The peer sent a window update that is not allowed. */
  protected abstract onInvalidWindow(isEmpty: boolean): void;

  /** Returns false if the caller should wait for {@link onDrain} before it sends more. */
  protected enqueue(chunk: Buffer, written?: Written): boolean {
    if (written) {
      this.#callbacks ??= this.#queue.map(() => undefined);
      this.#callbacks.push(written);
    } else this.#callbacks?.push(undefined);
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    this.sendLater();
    this.#needsDrain = this.#queuedBytes >= HIGH_WATER_BYTES;
    return !this.#needsDrain;
  }

  protected sendLater(): void {
    if (this.closed || this.hasSentEnd) return;
    if (this.#queue.length === 0 ? this.isEnding : this.#window > 0) this.connection.hasDataToSend(this);
  }

  /** Sends what can be sent at once, without an end, before the stream is reset. */
  protected sendQueued(): void {
    this.isEnding = false;
    this.trailers = undefined;
    while (!this.connection.isBlocked && this.#queue.length > 0 && this.sendFrame());
  }

  /** Drops what was not sent. */
  protected dropQueue(): void {
    const callbacks = this.#callbacks;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#callbacks = undefined;
    if (!callbacks) return;
    const error = new Error('the stream is closed');
    for (const written of callbacks) written?.(error);
  }

  /** Takes a part of the first chunk. Returns the callback of a chunk that was taken completely. */
  #take(chunk: Buffer, length: number): Written | undefined {
    this.connection.sendWindow -= length;
    this.#window -= length;
    this.#queuedBytes -= length;
    if (length < chunk.length) {
      this.#queue[0] = chunk.subarray(length);
      return undefined;
    }
    this.#queue.shift();
    return this.#callbacks?.shift();
  }

  #sendEnd(): boolean {
    if (!this.isEnding || this.hasSentEnd) return false;
    if (this.trailers) this.connection.sendFields(this.id, this.trailers, true);
    else this.connection.send(frameHead(0, frames.DATA, frames.END_STREAM, this.id));
    this.#sentEnd();
    return true;
  }

  #sentEnd(): void {
    this.hasSentEnd = true;
    this.connection.cannotSend(this);
    this.onSentEnd();
  }
}
