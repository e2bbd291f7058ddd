import type { Socket } from 'node:net';
import { checkLength, FrameReader, type FrameSink, type ReceivedFrame } from './frame-reader.ts';
import * as frames from './frame-types.ts';
import { frameHead, uint32 } from './frame-types.ts';
import { FrameWriter, type SendingStream, type Written } from './frame-writer.ts';
import { HeaderBlocks, type HeaderBlock } from './header-blocks.ts';
import { encodeFields, NO_TABLE } from './hpack-encoder.ts';
import { JoinedData } from './joined-data.ts';
import { PeerSettings } from './peer-settings.ts';
import { connectionError, ConnectionError } from './protocol-errors.ts';

/**
 * Frames in a row that neither belong to a message nor let one go on. As many are accepted again after the period: a peer may ping for days
 * while nothing else happens.
 */
const MAX_USELESS_FRAMES = 1000;
const USELESS_PERIOD_MS = 10_000;
export const NO_ERROR = 0;
const PING_PAYLOAD = '\0'.repeat(8);

export interface EndpointOptions {
  readonly streamWindow: number;
  readonly connectionWindow: number;
  readonly maxHeaderListBytes: number;
  /** Default: no limit. */
  readonly maxHeaderFields?: number;
}

/** A stream of a {@link FrameEndpoint}. */
export interface EndpointStream extends SendingStream {
  readonly id: number;
  readonly closed: boolean;
  onDataFrame(bytes: number): void;
  /** Receives data, which may be kept; `isLast` if the stream ends with it. */
  onData(chunk: Buffer | undefined, isLast: boolean): void;
  onReset(code: number): void;
  onWindowUpdate(bytes: number): void;
  /** The initial window of the peer changed. */
  changeWindow(change: number): void;
  onConnectionEnd(error: Error | undefined): void;
}

/** What both sides of an HTTP/2 connection have in common, frame by frame (RFC 9113). */
export abstract class FrameEndpoint<Stream extends EndpointStream> implements FrameSink {
  destroyed = false;
  readonly settings: PeerSettings;
  /** What may still be sent. */
  sendWindow = frames.DEFAULT_WINDOW;
  readonly streamWindow: number;
  protected readonly connectionWindow: number;
  protected readonly socket: Socket;
  protected readonly writer: FrameWriter;
  protected readonly blocks: HeaderBlocks;
  protected readonly streams = new Map<number, Stream>();
  /** The last frame was sent. */
  protected isClosing = false;
  /** Counts what was received completely, apart from the parts of header blocks. */
  protected progress = 0;
  readonly #reader = new FrameReader(this);
  /** What was received since the peer was last told. */
  #received = 0;
  /** The stream of the current `DATA` frame; undefined if it is closed. */
  #dataStream: Stream | undefined;
  #joined: JoinedData<Stream> | undefined;
  /** The buffer that the connections of clients are read into is used again at once. */
  readonly #isServer: boolean;
  /** TLS is read record by record, each with a frame or less: the data of a turn of the event loop is joined. */
  readonly #gathersReads: boolean;
  #isPassing = false;
  #isFirstBlock = true;
  #hasSettings = false;
  #useless = 0;
  #uselessSince = performance.now();

  /** What the socket receives is passed to {@link read}. */
  constructor(socket: Socket, options: EndpointOptions, isServer: boolean) {
    this.socket = socket;
    this.settings = new PeerSettings(isServer);
    this.#isServer = isServer;
    this.#gathersReads = isServer && 'encrypted' in socket;
    this.streamWindow = options.streamWindow;
    this.connectionWindow = Math.max(options.connectionWindow, frames.DEFAULT_WINDOW);
    this.blocks = new HeaderBlocks(options.maxHeaderListBytes, options.maxHeaderFields);
    this.writer = new FrameWriter(socket, this);
    let error: Error | undefined;
    socket.on('error', (reason) => (error = reason)).on('close', () => this.end(error));
    socket.on('drain', () => this.writer.drained());
  }

  destroy(error?: Error): void {
    if (this.destroyed) return;
    if (error instanceof ConnectionError && !this.isClosing) this.sayGoodbye(error.code);
    this.closeSocket();
    this.end(error);
  }

  onDataFrame(id: number, bytes: number): void {
    if (this.destroyed) return;
    this.progress++;
    this.#checkFirst(frames.DATA);
    this.blocks.checkNone();
    const stream = (this.#dataStream = this.streamOf(id, frames.DATA));
    if (stream !== this.#joined?.stream) this.#passJoined(false);
    stream?.onDataFrame(bytes);
    this.dataReceived(bytes, stream);
    if (bytes === 0) this.countControlFrame();
  }

  onData(buffer: Buffer, start: number, end: number, isLast: boolean): void {
    const stream = this.#dataStream;
    if (!stream || stream.closed) return this.dataDropped(end - start);
    this.#useless = 0;
    const joined = this.#joined;
    if (joined?.accepts(end - start)) {
      if (this.#isServer) joined.copy(buffer, start, end);
      else joined.move(start, end);
      this.onJoined();
    } else {
      this.#passJoined(false);
      this.#joined = new JoinedData(stream, buffer, start, end);
    }
    if (isLast) this.#passJoined(true);
  }

  onPadding(bytes: number): void {
    this.countControlFrame();
    this.dataDropped(bytes, this.#dataStream);
  }

  onFrame(frame: ReceivedFrame): void {
    this.#passJoined(false);
    if (this.destroyed) return;
    if (!this.blocks.isWithinBlock) this.progress++;
    this.#checkFirst(frame.type);
    if (frame.type !== frames.CONTINUATION) this.blocks.checkNone();
    switch (frame.type) {
      case frames.HEADERS:
      case frames.CONTINUATION: {
        const block = this.blocks.read(frame);
        return block && this.onBlock(block);
      }
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
        throw connectionError('PROTOCOL_ERROR', 'PUSH_PROMISE is not accepted');
      case frames.PRIORITY:
        return this.#onPriority(frame);
      default:
        return this.countControlFrame();
    }
  }

  /** True while a header block, or another frame besides `DATA`, is not complete. */
  protected get awaitsRest(): boolean {
    return this.#reader.isWithinFrame || this.blocks.isWithinBlock;
  }

  get isBlocked(): boolean {
    return this.writer.isBlocked;
  }

  send(text: string): void {
    this.writer.send(text);
  }

  sendData(head: string, data: Buffer): void {
    this.#useless = 0;
    this.writer.sendData(head, data);
  }

  /** Sends a head or trailers; `isLast` if the stream ends with them. */
  sendFields(id: number, fields: readonly string[], isLast: boolean): void {
    const block = this.#isFirstBlock ? NO_TABLE + encodeFields(fields) : encodeFields(fields);
    this.#isFirstBlock = false;
    this.writer.sendBlock(id, block, isLast, this.settings.maxFrameBytes);
  }

  sendReset(id: number, code: number): void {
    this.writer.send(frameHead(4, frames.RST_STREAM, 0, id) + uint32(code));
  }

  sendWindowUpdate(id: number, bytes: number): void {
    this.writer.send(frameHead(4, frames.WINDOW_UPDATE, 0, id) + uint32(bytes));
  }

  whenWritten(callback: Written): void {
    this.writer.whenWritten(callback);
  }

  hasDataToSend(stream: SendingStream): void {
    this.writer.addStream(stream);
  }

  cannotSend(stream: SendingStream): void {
    this.writer.removeStream(stream);
  }

  /** The stream is closed. */
  forget(stream: Stream): void {
    this.streams.delete(stream.id);
    this.writer.removeStream(stream);
  }

  onStalled(): void {
    // Not at once: a stream that is being opened could not report it.
    setImmediate(() => this.destroy(new Error('the peer has stopped reading; 16 MiB wait')));
  }

  /** Returns an open stream; `undefined` for one that is closed. Throws if the peer must not send such a frame for it. */
  protected abstract streamOf(id: number, type: number): Stream | undefined;
  /** A header block was received completely. It has to be decoded in any case: later ones depend on it. */
  protected abstract onBlock(block: HeaderBlock): void;
  protected abstract onPeerSettings(): void;
  protected abstract onGoaway(code: number, lastId: number): void;
  /** The connection ended; its streams know. */
  protected abstract onEnd(error: Error | undefined): void;
  /** Returns received data so that it can be kept. */
  protected abstract keep(buffer: Buffer, start: number, end: number): Buffer;
  /** `bytes` of a `DATA` frame count for the window of the connection. */
  protected abstract dataReceived(bytes: number, stream: Stream | undefined): void;
  /** The stream of this data, or of this padding, does not read it. */
  protected abstract dataDropped(bytes: number, stream?: Stream): void;
  /** The number of the last stream of the peer that was opened. */
  protected abstract get lastPeerId(): number;

  /** Data of a frame was joined to that of the frame before. */
  protected onJoined(): void {
    // The stream receives both together.
  }

  /** The peer confirmed a `PING`. */
  protected onPong(): void {
    // No ping is sent.
  }

  protected readFrames(buffer: Buffer, start: number, end: number): void {
    if (this.destroyed) return;
    try {
      this.#reader.read(buffer, start, end);
      if (this.#gathersReads && this.#joined?.isWorthJoining) this.#passLater(this.#joined);
      else this.#passJoined(false);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Sends settings, and the size of the window of the connection. */
  protected greet(preface: string, settings: string): void {
    this.writer.send(preface + frameHead(settings.length, frames.SETTINGS, 0, 0) + settings);
    if (this.connectionWindow > frames.DEFAULT_WINDOW)
      this.sendWindowUpdate(0, this.connectionWindow - frames.DEFAULT_WINDOW);
    this.writer.flush();
  }

  /** Sends the last frame. */
  protected sayGoodbye(code: number): void {
    this.isClosing = true;
    this.sendGoaway(code, this.lastPeerId);
    this.writer.flush();
    this.writer.stop();
  }

  protected sendPing(): void {
    this.writer.send(frameHead(PING_PAYLOAD.length, frames.PING, 0, 0) + PING_PAYLOAD);
  }

  protected sendGoaway(code: number, lastId: number): void {
    this.writer.send(frameHead(8, frames.GOAWAY, 0, 0) + uint32(lastId) + uint32(code));
  }

  protected closeSocket(): void {
    this.socket.destroy();
  }

  /** Grants the window of the connection again. */
  protected grant(bytes: number): void {
    this.#received += bytes;
    if (2 * this.#received < this.connectionWindow) return;
    this.sendWindowUpdate(0, this.#received);
    this.#received = 0;
  }

  protected countControlFrame(): void {
    if (++this.#useless <= MAX_USELESS_FRAMES) return;
    const now = performance.now();
    if (now - this.#uselessSince < USELESS_PERIOD_MS)
      throw connectionError('ENHANCE_YOUR_CALM', 'too many frames besides requests and responses');
    this.#uselessSince = now;
    this.#useless = 1;
  }

  /** A frame belongs to a message. */
  protected countUseful(): void {
    this.#useless = 0;
  }

  protected end(error: Error | undefined): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.writer.stop();
    for (const stream of this.streams.values()) stream.onConnectionEnd(error);
    this.onEnd(error);
  }

  readonly #keep = (buffer: Buffer, start: number, end: number): Buffer => this.keep(buffer, start, end);

  #passLater(joined: JoinedData<Stream>): void {
    joined.keep();
    if (this.#isPassing) return;
    this.#isPassing = true;
    setImmediate(this.#passKept);
  }

  readonly #passKept = (): void => {
    this.#isPassing = false;
    if (this.destroyed) return;
    try {
      this.#passJoined(false);
    } catch (error) {
      this.#fail(error);
    }
  };

  #fail(error: unknown): void {
    this.#joined = undefined;
    if (!(error instanceof ConnectionError)) throw error;
    this.destroy(error);
  }

  #passJoined(isLast: boolean): void {
    const joined = this.#joined;
    if (!joined) return;
    this.#joined = undefined;
    const { stream, length } = joined;
    if (stream.closed) {
      joined.drop();
      this.dataDropped(length);
    } else stream.onData(length === 0 ? undefined : joined.read(this.#keep), isLast);
  }

  #checkFirst(type: number): void {
    if (!this.#hasSettings && type !== frames.SETTINGS)
      throw connectionError('PROTOCOL_ERROR', 'the connection does not begin with settings');
  }

  #onReset(frame: ReceivedFrame): void {
    checkLength(frame, 4);
    const stream = this.streamOf(frame.id, frame.type);
    if (stream) stream.onReset(frame.buffer.readUInt32BE(frame.start));
    else this.countControlFrame();
  }

  #onSettings(frame: ReceivedFrame): void {
    const isFirst = !this.#hasSettings;
    this.#hasSettings = true;
    if (frame.id !== 0) throw connectionError('PROTOCOL_ERROR', 'settings belong to a stream');
    if ((frame.flags & frames.ACK) !== 0) {
      if (isFirst) throw connectionError('PROTOCOL_ERROR', 'the connection does not begin with settings');
      checkLength(frame, 0);
      return this.countControlFrame();
    }
    this.countControlFrame();
    const before = this.settings.initialWindow;
    this.settings.read(frame);
    const change = this.settings.initialWindow - before;
    if (change !== 0) for (const stream of this.streams.values()) stream.changeWindow(change);
    this.writer.acknowledge(frameHead(0, frames.SETTINGS, frames.ACK, 0));
    this.onPeerSettings();
  }

  #onPing(frame: ReceivedFrame): void {
    if (frame.id !== 0) throw connectionError('PROTOCOL_ERROR', 'a ping belongs to a stream');
    checkLength(frame, 8);
    this.countControlFrame();
    if ((frame.flags & frames.ACK) !== 0) return this.onPong();
    const payload = frame.buffer.toString('latin1', frame.start, frame.end);
    this.writer.acknowledge(frameHead(8, frames.PING, frames.ACK, 0) + payload);
  }

  #onGoaway({ id, buffer, start, end }: ReceivedFrame): void {
    if (id !== 0) throw connectionError('PROTOCOL_ERROR', 'GOAWAY belongs to a stream');
    if (end - start < 8) throw connectionError('FRAME_SIZE_ERROR', 'GOAWAY is too short');
    this.countControlFrame();
    this.onGoaway(buffer.readUInt32BE(start + 4), buffer.readUInt32BE(start) & 0x7fffffff);
  }

  #onPriority(frame: ReceivedFrame): void {
    if (frame.id === 0) throw connectionError('PROTOCOL_ERROR', 'a priority has no stream');
    checkLength(frame, 5);
    if ((frame.buffer.readUInt32BE(frame.start) & 0x7fffffff) === frame.id)
      throw connectionError('PROTOCOL_ERROR', 'a stream depends on itself');
    this.countControlFrame();
  }

  #onWindowUpdate(frame: ReceivedFrame): void {
    checkLength(frame, 4);
    this.countControlFrame();
    const bytes = frame.buffer.readUInt32BE(frame.start) & 0x7fffffff;
    if (frame.id !== 0) return this.streamOf(frame.id, frame.type)?.onWindowUpdate(bytes);
    if (bytes === 0) throw connectionError('PROTOCOL_ERROR', 'a window update is empty');
    this.sendWindow += bytes;
    if (this.sendWindow > frames.LARGEST_WINDOW) throw connectionError('FLOW_CONTROL_ERROR', 'the window is too large');
    this.writer.flushLater();
  }
}
