import type { Socket } from 'node:net';
import type { ReadBuffer } from '../../../http1/read-buffer.ts';
import type { ClientConnection, ConnectionObserver, RequestOptions, StreamObserver } from '../client-connection.ts';
import { FrameReader, type FrameSink, type ReceivedFrame } from './frame-reader.ts';
import { FrameStream, type StreamConnection } from './frame-stream.ts';
import * as frames from './frame-types.ts';
import { frameHead, setting, uint32 } from './frame-types.ts';
import { FrameWriter } from './frame-writer.ts';
import { HeaderBlocks } from './header-blocks.ts';
import { encodeFields, NO_TABLE } from './hpack-encoder.ts';
import { connectionError, ConnectionError } from './protocol-errors.ts';
import { PeerSettings } from './peer-settings.ts';

/** Frames in a row that neither belong to a response nor let a request go on. */
const MAX_USELESS_FRAMES = 1000;
const NO_ERROR = 0;

export interface FrameConnectionOptions {
  readonly streamWindow: number;
  readonly connectionWindow: number;
  readonly maxHeaderListBytes: number;
}

/** The client side of an HTTP/2 connection, frame by frame (RFC 9113). */
export class FrameConnection implements ClientConnection, FrameSink, StreamConnection {
  destroyed = false;
  readonly settings = new PeerSettings();
  /** What may still be sent. */
  sendWindow = frames.DEFAULT_WINDOW;
  readonly streamWindow: number;
  readonly #window: number;
  /** What was received since the peer was last told. */
  #received = 0;
  readonly #observer: ConnectionObserver;
  readonly #socket: Socket;
  readonly #writer: FrameWriter;
  readonly #reader = new FrameReader(this);
  readonly #blocks: HeaderBlocks;
  readonly #buffer: ReadBuffer;
  readonly #streams = new Map<number, FrameStream>();
  /** The stream of the current `DATA` frame; undefined if it is closed. */
  #dataStream: FrameStream | undefined;
  #nextId = 1;
  #isFirstBlock = true;
  #hasSettings = false;
  #useless = 0;
  #isClosing = false;

  /** What the socket receives is passed to {@link read}; its buffer is `buffer`. */
  constructor(socket: Socket, buffer: ReadBuffer, observer: ConnectionObserver, options: FrameConnectionOptions) {
    this.#buffer = buffer;
    this.#socket = socket;
    this.#observer = observer;
    this.streamWindow = options.streamWindow;
    this.#window = Math.max(options.connectionWindow, frames.DEFAULT_WINDOW);
    this.#blocks = new HeaderBlocks(options.maxHeaderListBytes);
    this.#writer = new FrameWriter(socket, this);
    let error: Error | undefined;
    socket.on('error', (reason) => (error = reason)).on('close', () => this.#end(error));
    socket.on('end', () => socket.destroy()).on('drain', () => this.#writer.drained());
    this.#greet(options.maxHeaderListBytes);
  }

  get isExhausted(): boolean {
    return this.#nextId > frames.LAST_STREAM_ID;
  }

  ref(): void {
    this.#socket.ref();
  }

  unref(): void {
    this.#socket.unref();
  }

  request(observer: StreamObserver, headers: readonly string[], options: RequestOptions): FrameStream {
    if (this.destroyed) throw new Error('the connection is closed');
    const stream = new FrameStream(this, observer, headers[1]!, options);
    this.#streams.set(stream.id, stream);
    const block = this.#isFirstBlock ? NO_TABLE + encodeFields(headers) : encodeFields(headers);
    this.#isFirstBlock = false;
    this.#writer.sendBlock(stream.id, block, options.endStream, this.settings.maxFrameBytes);
    return stream;
  }

  close(): void {
    if (this.destroyed || this.#isClosing) return;
    this.#isClosing = true;
    this.#sayGoodbye(NO_ERROR);
    this.#socket.end();
  }

  destroy(error?: Error): void {
    if (this.destroyed) return;
    if (error instanceof ConnectionError && !this.#isClosing) this.#sayGoodbye(error.code);
    this.#socket.destroy();
    this.#end(error);
  }

  /** Receives the first `length` bytes of a buffer that is used again after the call. */
  read(buffer: Buffer, length: number): void {
    if (this.destroyed) return;
    try {
      this.#reader.read(buffer, 0, length);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.destroy(error);
    }
  }

  onDataFrame(id: number, bytes: number): void {
    this.#checkFirst(frames.DATA);
    this.#blocks.checkNone();
    this.#dataStream = this.#streamOf(id);
    this.#dataStream?.onDataFrame(bytes);
    if (bytes > 0) this.#grant(bytes);
    else this.#countUseless();
  }

  onData(buffer: Buffer, start: number, end: number, isLast: boolean): void {
    const stream = this.#dataStream;
    if (!stream || stream.closed) return;
    this.#useless = 0;
    stream.onData(start === end ? undefined : this.#buffer.take(buffer, start, end), isLast);
  }

  onFrame(frame: ReceivedFrame): void {
    if (this.destroyed) return;
    this.#checkFirst(frame.type);
    if (frame.type !== frames.CONTINUATION) this.#blocks.checkNone();
    switch (frame.type) {
      case frames.HEADERS:
      case frames.CONTINUATION:
        return this.#onHeaders(frame);
      case frames.RST_STREAM:
        return this.#onReset(frame);
      case frames.SETTINGS:
        return this.#onSettings(frame);
      case frames.PING:
        return this.#onPing(frame);
      case frames.GOAWAY:
        return this.#onGoaway(frame);
      case frames.WINDOW_UPDATE:
        return this.#onWindowUpdate(frame);
      case frames.PUSH_PROMISE:
        throw connectionError('PROTOCOL_ERROR', 'a response is pushed');
      case frames.PRIORITY:
        if (frame.id === 0) throw connectionError('PROTOCOL_ERROR', 'a priority has no stream');
        checkLength(frame, 5);
        return this.#countUseless();
      default:
        return this.#countUseless();
    }
  }

  takeId(): number {
    const id = this.#nextId;
    this.#nextId += 2;
    return id;
  }

  send(text: string): void {
    this.#writer.send(text);
  }

  sendData(head: string, data: Buffer): void {
    this.#useless = 0;
    this.#writer.sendData(head, data);
  }

  sendTrailers(id: number, fields: readonly string[]): void {
    this.#writer.sendBlock(id, encodeFields(fields), true, this.settings.maxFrameBytes);
  }

  hasDataToSend(stream: FrameStream): void {
    this.#writer.addStream(stream);
  }

  cannotSend(stream: FrameStream): void {
    this.#writer.removeStream(stream);
  }

  forget(stream: FrameStream): void {
    this.#streams.delete(stream.id);
    this.#writer.removeStream(stream);
    if (this.#streams.size === 0) this.#buffer.reset();
  }

  #greet(maxHeaderListBytes: number): void {
    const settings =
      setting(frames.ENABLE_PUSH, 0) +
      setting(frames.INITIAL_WINDOW_SIZE, this.streamWindow) +
      setting(frames.MAX_HEADER_LIST_SIZE, maxHeaderListBytes);
    this.#writer.send(frames.PREFACE + frameHead(settings.length, frames.SETTINGS, 0, 0) + settings);
    if (this.#window > frames.DEFAULT_WINDOW) this.#sendWindowUpdate(this.#window - frames.DEFAULT_WINDOW);
    this.#writer.flush();
  }

  /** Sends the last frame. */
  #sayGoodbye(code: number): void {
    this.#writer.send(frameHead(8, frames.GOAWAY, 0, 0) + uint32(0) + uint32(code));
    this.#writer.flush();
    this.#writer.stop();
  }

  #sendWindowUpdate(bytes: number): void {
    this.#writer.send(frameHead(4, frames.WINDOW_UPDATE, 0, 0) + uint32(bytes));
  }

  /** Streams limit what waits in memory: the window of the connection is granted again at once, so that it cannot be exceeded. */
  #grant(bytes: number): void {
    this.#received += bytes;
    if (2 * this.#received < this.#window) return;
    this.#sendWindowUpdate(this.#received);
    this.#received = 0;
  }

  #checkFirst(type: number): void {
    if (!this.#hasSettings && type !== frames.SETTINGS)
      throw connectionError('PROTOCOL_ERROR', 'the connection does not begin with settings');
  }

  /** Returns an open stream; `undefined` for one that is closed. */
  #streamOf(id: number): FrameStream | undefined {
    const stream = this.#streams.get(id);
    if (!stream && (id >= this.#nextId || id % 2 === 0))
      throw connectionError('PROTOCOL_ERROR', `stream ${id} is not open`);
    return stream;
  }

  #countUseless(): void {
    if (++this.#useless > MAX_USELESS_FRAMES)
      throw connectionError('ENHANCE_YOUR_CALM', 'too many frames besides responses');
  }

  #onHeaders(frame: ReceivedFrame): void {
    const block = this.#blocks.read(frame);
    if (!block) return;
    const stream = this.#streamOf(block.id);
    // The block is decoded nevertheless: later ones depend on it.
    const fields = this.#blocks.decode(block);
    if (!stream) return this.#countUseless();
    this.#useless = 0;
    stream.onFields(fields, block.isLast);
  }

  #onReset(frame: ReceivedFrame): void {
    checkLength(frame, 4);
    const stream = this.#streamOf(frame.id);
    if (stream) stream.onReset(frame.buffer.readUInt32BE(frame.start));
    else this.#countUseless();
  }

  #onSettings(frame: ReceivedFrame): void {
    const isFirst = !this.#hasSettings;
    this.#hasSettings = true;
    if (frame.id !== 0) throw connectionError('PROTOCOL_ERROR', 'settings belong to a stream');
    if ((frame.flags & frames.ACK) !== 0) {
      if (isFirst) throw connectionError('PROTOCOL_ERROR', 'the connection does not begin with settings');
      checkLength(frame, 0);
      return this.#countUseless();
    }
    this.#countUseless();
    const before = this.settings.initialWindow;
    this.settings.read(frame);
    const change = this.settings.initialWindow - before;
    if (change !== 0) for (const stream of this.#streams.values()) stream.changeWindow(change);
    this.#writer.acknowledge(frameHead(0, frames.SETTINGS, frames.ACK, 0));
    this.#observer.onSettings(this.settings.maxStreams, this.settings.acceptsWebSockets);
  }

  #onPing(frame: ReceivedFrame): void {
    if (frame.id !== 0) throw connectionError('PROTOCOL_ERROR', 'a ping belongs to a stream');
    checkLength(frame, 8);
    this.#countUseless();
    if ((frame.flags & frames.ACK) !== 0) return;
    const payload = frame.buffer.toString('latin1', frame.start, frame.end);
    this.#writer.acknowledge(frameHead(8, frames.PING, frames.ACK, 0) + payload);
  }

  #onGoaway({ id, buffer, start, end }: ReceivedFrame): void {
    if (id !== 0) throw connectionError('PROTOCOL_ERROR', 'GOAWAY belongs to a stream');
    if (end - start < 8) throw connectionError('FRAME_SIZE_ERROR', 'GOAWAY is too short');
    this.#countUseless();
    const lastId = buffer.readUInt32BE(start) & 0x7fffffff;
    const code = buffer.readUInt32BE(start + 4);
    this.#observer.onGoaway(code, lastId);
    if (code !== NO_ERROR) return this.destroy();
    for (const stream of this.#streams.values()) if (stream.id > lastId) stream.refuse();
    if (this.#streams.size === 0) this.close();
  }

  #onWindowUpdate(frame: ReceivedFrame): void {
    checkLength(frame, 4);
    this.#countUseless();
    const bytes = frame.buffer.readUInt32BE(frame.start) & 0x7fffffff;
    if (frame.id !== 0) return this.#streamOf(frame.id)?.onWindowUpdate(bytes);
    if (bytes === 0) throw connectionError('PROTOCOL_ERROR', 'a window update is empty');
    this.sendWindow += bytes;
    if (this.sendWindow > frames.LARGEST_WINDOW) throw connectionError('FLOW_CONTROL_ERROR', 'the window is too large');
    this.#writer.flushLater();
  }

  #end(error: Error | undefined): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#writer.stop();
    for (const stream of this.#streams.values()) stream.onConnectionEnd(error);
    this.#observer.onClose(error);
  }
}

function checkLength({ start, end }: ReceivedFrame, length: number): void {
  if (end - start !== length) throw connectionError('FRAME_SIZE_ERROR', 'a frame has the wrong size');
}
