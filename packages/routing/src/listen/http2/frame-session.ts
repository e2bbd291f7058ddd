import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { linger, startTimer } from '@edge-gateway/core';
import { FrameEndpoint, NO_ERROR, type EndpointOptions } from '../../http2/frame-endpoint.ts';
import { copyOf } from '../../http1/spare-buffers.ts';
import * as frames from '../../http2/frame-types.ts';
import { frameHead, setting } from '../../http2/frame-types.ts';
import type { HeaderBlock } from '../../http2/header-blocks.ts';
import type { DecodedFields } from '../../http2/hpack-decoder.ts';
import { connectionError, ConnectionError } from '../../http2/protocol-errors.ts';
import { FrameServerStream, type ServerStreamConnection } from './frame-server-stream.ts';
import { OpenedStreams } from './opened-streams.ts';
import { readRequestFields } from './request-fields.ts';
import type { Http2Head } from './http2-head.ts';

/** Responses that wait for a client that does not read, in bytes: further requests would make them grow without limit. */
const MAX_WAITING_BYTES = 1024 * 1024;
const PREFACE = Buffer.from(frames.PREFACE, 'latin1');

/** Observes the connection of a client. */
export interface SessionObserver {
  /** The client has sent a request, whether it is served or not. */
  onConnected(): void;
  /** A request was received; `bytes` is the size of its header list. */
  onStream(stream: FrameServerStream, head: Http2Head, bytes: number): void;
  /** The client has reset a stream before its request was received. */
  onResetStream(): void;
  /** A frame of a request was received, which may have a response already. */
  receive(bytes: number): void;
  /** The connection accepts no further requests, and is closed after those in progress. */
  onLast(): void;
  /** The client has violated the protocol, or sends too much of what no request needs. */
  onViolation(reason: string): void;
}

export interface FrameSessionOptions extends EndpointOptions {
  readonly maxStreams: number;
  /** Frames that a client may send although they are invalid, each of which ends its stream. */
  readonly maxInvalidFrames: number;
  /** True if clients may open WebSockets (RFC 8441). */
  readonly webSockets: boolean;
  /** Maximum time from the beginning of a head to its end, in milliseconds; 0 is no limit. */
  readonly headTimeoutMs: number;
  /** Maximum time that the client has to confirm that it knows that the connection is being closed, in milliseconds. */
  readonly closeDelayMs: number;
}

interface ReceivedStream {
  readonly stream: FrameServerStream;
  readonly head: Http2Head;
  /** Size of the header list. */
  readonly bytes: number;
}

/** The server side of an HTTP/2 connection, frame by frame (RFC 9113). */
export class FrameSession extends FrameEndpoint<FrameServerStream> implements ServerStreamConnection {
  closed = false;
  readonly #options: FrameSessionOptions;
  readonly #observer: SessionObserver;
  readonly #opened = new OpenedStreams();
  /** Bytes of the preface that were received. */
  #prefaceBytes = 0;
  /** What the client may still send. */
  #receiveWindow: number;
  #invalidFrames = 0;
  /** Requests that are passed on when all received bytes were read: with their body, if it is there, and not if they were reset. */
  #received: ReceivedStream[] = [];
  /** Requests that were received and not passed on yet are refused. */
  #refusesReceived = false;
  /** The client was told that the connection is being closed, and has not confirmed it yet. */
  #isAnnounced = false;
  #announceTimer: NodeJS.Timeout | undefined;
  /** Runs while a header block, or another frame besides `DATA`, is not complete. */
  #headTimer: NodeJS.Timeout | undefined;
  /** The progress when that one began. */
  #headBegin = 0;

  /** What the socket receives is passed to {@link read}. */
  constructor(socket: Socket, observer: SessionObserver, options: FrameSessionOptions) {
    super(socket, options, true);
    this.#observer = observer;
    this.#options = options;
    this.#receiveWindow = this.connectionWindow;
    // As with HTTP/1.1, a client that ends its side does not wait for responses.
    socket.on('end', () => socket.destroy());
    this.greet(
      '',
      setting(frames.ENABLE_PUSH, 0) +
        setting(frames.MAX_CONCURRENT_STREAMS, options.maxStreams) +
        setting(frames.INITIAL_WINDOW_SIZE, options.streamWindow) +
        setting(frames.MAX_HEADER_LIST_SIZE, options.maxHeaderListBytes) +
        (options.webSockets ? setting(frames.ENABLE_CONNECT_PROTOCOL, 1) : ''),
    );
  }

  /** Receives the bytes from `start` to `end` of a buffer that is used again after the call. */
  read(buffer: Buffer, start: number, end: number): void {
    if (this.#prefaceBytes === PREFACE.length) return this.readFrames(buffer, start, end);
    const taken = Math.min(end - start, PREFACE.length - this.#prefaceBytes);
    const expected = PREFACE.subarray(this.#prefaceBytes, this.#prefaceBytes + taken);
    this.#prefaceBytes += taken;
    if (!expected.equals(buffer.subarray(start, start + taken)))
      return this.destroy(connectionError('PROTOCOL_ERROR', 'the preface is invalid'));
    this.readFrames(buffer, start + taken, end);
  }

  protected override readFrames(buffer: Buffer, start: number, end: number): void {
    super.readFrames(buffer, start, end);
    this.#limitHead();
    if (this.#received.length === 0) return;
    const received = this.#received;
    this.#received = [];
    this.#observer.onConnected();
    for (const { stream, head, bytes } of received) {
      if (stream.closed) this.#observer.onResetStream();
      else if (this.#refusesReceived) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else this.#observer.onStream(stream, head, bytes);
    }
  }

  /**
   * Closes the connection when the requests in progress have ended. With `atOnce`, those that arrive from now on are refused, also if the client
   * cannot know that yet.
   */
  close(atOnce: boolean): void {
    if (this.destroyed || this.closed) return;
    if (atOnce) {
      this.#refusesReceived = true;
      return this.#refuseLater();
    }
    if (this.#isAnnounced) return;
    // Requests that are on their way are served, until the client knows (RFC 9113 6.8).
    this.#isAnnounced = true;
    this.sendGoaway(NO_ERROR, frames.LAST_STREAM_ID);
    this.sendPing();
    this.#announceTimer = startTimer(() => this.#refuseLater(), this.#options.closeDelayMs).unref();
  }

  /** Closes the connection with `ENHANCE_YOUR_CALM` (RFC 9113 7). */
  reject(reason: string): void {
    this.destroy(connectionError('ENHANCE_YOUR_CALM', reason));
  }

  override destroy(error?: Error): void {
    if (this.destroyed) return;
    if (error instanceof ConnectionError) this.#observer.onViolation(error.message);
    super.destroy(error);
  }

  override forget(stream: FrameServerStream, isReset = false): void {
    super.forget(stream);
    if (isReset) this.#opened.reset(stream.id);
    if (this.closed && this.streams.size === 0) this.#endLater();
  }

  consumed(bytes: number): void {
    this.#receiveWindow += bytes;
    if (!this.destroyed) this.grant(bytes);
  }

  violated(): void {
    if (++this.#invalidFrames > this.#options.maxInvalidFrames)
      throw connectionError('ENHANCE_YOUR_CALM', 'too many invalid frames');
  }

  protected streamOf(id: number, type: number): FrameServerStream | undefined {
    const stream = this.streams.get(id);
    if (stream) return stream;
    if (this.#opened.isIdle(id)) throw connectionError('PROTOCOL_ERROR', `stream ${id} is not open`);
    if (type === frames.DATA && !this.#opened.wasReset(id))
      throw connectionError('STREAM_CLOSED', `data on stream ${id}, which is closed`);
    return undefined;
  }

  protected onBlock(block: HeaderBlock): void {
    const { id } = block;
    const fields = this.blocks.decode(block);
    const stream = this.streams.get(id);
    if (stream) {
      this.countUseful();
      return stream.onFields(fields, block.isLast);
    }
    if (!this.#opened.isNew(id)) {
      if (this.#opened.isIdle(id)) throw connectionError('PROTOCOL_ERROR', `the stream ${id} cannot be opened`);
      if (this.#opened.wasReset(id)) return this.countControlFrame();
      throw connectionError('STREAM_CLOSED', `a head on stream ${id}, which is closed`);
    }
    this.#opened.open(id);
    const code = this.#open(id, fields, block.isLast);
    if (code === undefined) return;
    if (!block.isLast) this.#opened.reset(id);
    this.writer.acknowledge(resetFrame(id, code));
  }

  protected onPeerSettings(): void {
    // They apply to what is sent.
  }

  /** The client opens no more streams, or has found a violation of the protocol. */
  protected onGoaway(code: number): void {
    if (code === NO_ERROR) this.#refuseLater();
    else this.socket.destroy();
  }

  protected override onPong(): void {
    if (this.#isAnnounced) this.#refuseLater();
  }

  protected onEnd(): void {
    clearTimeout(this.#announceTimer);
    clearTimeout(this.#headTimer);
  }

  protected keep(buffer: Buffer, start: number, end: number): Buffer {
    return copyOf(buffer, start, end);
  }

  /** The window is granted again when the data was read: this limits what waits in memory. */
  protected dataReceived(bytes: number): void {
    this.#receiveWindow -= bytes;
    if (this.#receiveWindow < 0)
      throw connectionError('FLOW_CONTROL_ERROR', 'the connection sends more than its window');
  }

  protected dataDropped(bytes: number, stream?: FrameServerStream): void {
    if (stream) return stream.consumed(bytes);
    // The client did not know yet that the stream is closed: it has done nothing wrong.
    this.#observer.receive(bytes);
    this.consumed(bytes);
  }

  /** A stream counts what it receives as one frame. */
  protected override onJoined(): void {
    this.#observer.receive(0);
  }

  protected get lastPeerId(): number {
    return this.#opened.lastId;
  }

  /** The client gets the last frame although it may still be sending. */
  protected override closeSocket(): void {
    linger(this.socket);
  }

  /** Opens a stream. Returns the code of the reset if it cannot be served. */
  #open(id: number, { raw, isTooLong }: DecodedFields, isLast: boolean): number | undefined {
    const { maxStreams, webSockets } = this.#options;
    if (this.closed) return constants.NGHTTP2_REFUSED_STREAM;
    if (this.writer.waitingBytes > MAX_WAITING_BYTES)
      throw connectionError('ENHANCE_YOUR_CALM', 'the client does not read its responses');
    if (this.streams.size >= maxStreams) {
      this.countControlFrame();
      return constants.NGHTTP2_REFUSED_STREAM;
    }
    if (isTooLong) {
      this.violated();
      return constants.NGHTTP2_ENHANCE_YOUR_CALM;
    }
    const head = readRequestFields(raw, webSockets);
    const stream = head && new FrameServerStream(this, id, head, isLast);
    if (!stream?.isValid) {
      this.violated();
      return constants.NGHTTP2_PROTOCOL_ERROR;
    }
    this.countUseful();
    this.streams.set(id, stream);
    let bytes = 0;
    for (const text of raw) bytes += text.length;
    this.#received.push({ stream, head: head!, bytes });
    return undefined;
  }

  /** Closes the connection if a head that was not received completely is not continued in time. */
  #limitHead(): void {
    if (!this.awaitsRest || this.destroyed) {
      clearTimeout(this.#headTimer);
      this.#headTimer = undefined;
      return;
    }
    const { headTimeoutMs } = this.#options;
    if (headTimeoutMs === 0 || (this.#headTimer && this.progress === this.#headBegin)) return;
    this.#headBegin = this.progress;
    // Many reads end within a frame, each time within another one.
    if (this.#headTimer) this.#headTimer.refresh();
    else this.#headTimer = startTimer(() => this.reject('a head was not complete in time'), headTimeoutMs).unref();
  }

  #refuseLater(): void {
    if (this.destroyed || this.closed) return;
    clearTimeout(this.#announceTimer);
    this.closed = true;
    this.sendGoaway(NO_ERROR, this.#opened.lastId);
    if (this.streams.size === 0) this.#endLater();
    this.#observer.onLast();
  }

  /** Ends the connection when everything was written. */
  #endLater(): void {
    this.writer.whenWritten((error) => {
      if (error || this.destroyed || this.isClosing) return;
      this.isClosing = true;
      this.writer.stop();
      this.socket.end();
    });
  }
}

const resetFrame = (id: number, code: number): string => frameHead(4, frames.RST_STREAM, 0, id) + frames.uint32(code);
