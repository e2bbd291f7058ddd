import type { Socket } from 'node:net';
import type { ReadBuffer } from '../../http1/read-buffer.ts';
import { FrameEndpoint, NO_ERROR, type EndpointOptions } from '../../http2/frame-endpoint.ts';
import * as frames from '../../http2/frame-types.ts';
import { setting } from '../../http2/frame-types.ts';
import type { HeaderBlock } from '../../http2/header-blocks.ts';
import { connectionError } from '../../http2/protocol-errors.ts';
import type { ClientConnection, ConnectionObserver, RequestOptions, StreamObserver } from './client-connection.ts';
import { readBeforeFailing } from '../failed-writes.ts';
import { FrameStream } from './frame-stream.ts';

export interface ConnectionOptions extends EndpointOptions {
  /** Number of the first stream. Default: 1. */
  readonly firstId?: number | undefined;
}

/** The client side of an HTTP/2 connection, frame by frame (RFC 9113). */
export class FrameConnection extends FrameEndpoint<FrameStream> implements ClientConnection {
  readonly #observer: ConnectionObserver;
  readonly #buffer: ReadBuffer;
  #nextId: number;

  /** What the socket receives is passed to {@link read}; its buffer is `buffer`. */
  constructor(socket: Socket, buffer: ReadBuffer, observer: ConnectionObserver, options: ConnectionOptions) {
    super(socket, options, false);
    this.#buffer = buffer;
    this.#observer = observer;
    this.#nextId = options.firstId ?? 1;
    socket.on('end', () => {
      // Streams end when the socket is closed: until then, what was received in this turn is passed on.
      this.writer.stop();
      socket.destroy();
    });
    readBeforeFailing(socket, () => this.streams.size > 0);
    this.greet(
      frames.PREFACE,
      setting(frames.ENABLE_PUSH, 0) +
        setting(frames.INITIAL_WINDOW_SIZE, options.streamWindow) +
        setting(frames.MAX_HEADER_LIST_SIZE, options.maxHeaderListBytes),
    );
  }

  get isExhausted(): boolean {
    return this.#nextId > frames.LAST_STREAM_ID;
  }

  ref(): void {
    this.socket.ref();
  }

  unref(): void {
    this.socket.unref();
  }

  request(observer: StreamObserver, headers: readonly string[], options: RequestOptions): FrameStream {
    if (this.destroyed || this.isClosing) throw new Error('the connection is closed');
    if (this.isExhausted) throw new Error('all streams of the connection are used');
    const stream = new FrameStream(this, observer, headers[1]!, options);
    this.streams.set(stream.id, stream);
    this.sendFields(stream.id, headers, options.endStream);
    return stream;
  }

  ping(): void {
    if (!this.destroyed && !this.isClosing) this.sendPing();
  }

  close(): void {
    if (this.destroyed || this.isClosing) return;
    this.sayGoodbye(NO_ERROR);
    this.socket.end();
  }

  /** Receives the first `length` bytes of a buffer that is used again after the call. */
  read(buffer: Buffer, length: number): void {
    this.readFrames(buffer, 0, length);
    // Only here: outside of a read, the next one still goes into this buffer, also if another connection had it by then.
    if (this.streams.size === 0) this.#buffer.reset();
  }

  takeId(): number {
    const id = this.#nextId;
    this.#nextId += 2;
    return id;
  }

  protected streamOf(id: number): FrameStream | undefined {
    const stream = this.streams.get(id);
    if (!stream && (id >= this.#nextId || id % 2 === 0))
      throw connectionError('PROTOCOL_ERROR', `stream ${id} is not open`);
    return stream;
  }

  protected onBlock(block: HeaderBlock): void {
    const stream = this.streamOf(block.id);
    const fields = this.blocks.decode(block);
    if (!stream) return this.countControlFrame();
    this.countUseful();
    stream.onFields(fields, block.isLast);
  }

  protected onPeerSettings(): void {
    this.#observer.onSettings(this.settings.maxStreams, this.settings.acceptsWebSockets);
  }

  protected onGoaway(code: number, lastId: number): void {
    this.#observer.onGoaway(code, lastId);
    // The others may still be completed, also after an error.
    for (const stream of this.streams.values()) if (stream.id > lastId) stream.refuse();
    if (this.streams.size === 0) this.close();
  }

  protected override onPong(): void {
    this.#observer.onPong();
  }

  protected onEnd(error: Error | undefined): void {
    this.#observer.onClose(error);
  }

  protected keep(buffer: Buffer, start: number, end: number): Buffer {
    return this.#buffer.keep(buffer, start, end);
  }

  /** Streams limit what waits in memory: the window of the connection is granted again at once, so that it cannot be exceeded. */
  protected dataReceived(bytes: number): void {
    if (bytes > 0) this.grant(bytes);
  }

  protected dataDropped(_bytes: number, stream?: FrameStream): void {
    stream?.onPadding();
  }

  /** Servers open no streams. */
  protected get lastPeerId(): number {
    return 0;
  }
}
