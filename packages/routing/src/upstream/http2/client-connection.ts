import type { ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';

/** Observes a connection. */
export interface ConnectionObserver {
  /** Settings of the peer arrived; `maxStreams` is undefined if it sets no limit. */
  onSettings(maxStreams: number | undefined, acceptsWebSockets: boolean): void;
  onGoaway(code: number, lastId: number): void;
  /** The peer has confirmed a `PING`. */
  onPong(): void;
  /** Called once; `error` if it was not closed in order. */
  onClose(error: Error | undefined): void;
}

/** Receives the response of a stream. */
export interface StreamObserver {
  /** The head of an interim response, flat. */
  onInterim(raw: readonly string[]): void;
  /** The head of the response; `flags` are those of its frame. */
  onHead(raw: readonly string[], flags: number): void;
  onTrailers(raw: readonly string[]): void;
  /** A part of the body, which may be kept. Returns false if no more is wanted for now. */
  onData(chunk: Buffer): boolean;
  /** The last part was received; `isComplete` is false if the stream was reset instead. */
  onLast(isComplete: boolean): void;
  onEnd(): void;
  onError(error: Error): void;
  /** The stream is closed, completely or not. */
  onClose(): void;
}

/** The part of a stream that sends the body of a request. */
export interface UploadStream {
  readonly destroyed: boolean;
  readonly closed: boolean;
  /** Returns false if the caller should wait for `drain` before it writes more. */
  write(chunk: Buffer, written?: (error?: Error | null) => void): boolean;
  end(chunk?: Buffer): unknown;
  on(event: 'drain', listener: () => void): unknown;
  once(event: 'wantTrailers', listener: () => void): unknown;
  /** Called by the listener of `wantTrailers`. */
  sendTrailers(trailers: OutgoingHttpHeaders): void;
}

/** A stream of a connection. */
export interface ClientStream extends UploadStream {
  readonly id?: number | undefined;
  /** Code of the reset. */
  readonly rstCode: number;
  /** Resets the stream. */
  close(code: number): void;
  /** Asks for more of the response, after `onData` returned false. */
  _read(size: number): void;
}

export interface RequestOptions {
  /** True if no body follows. */
  readonly endStream: boolean;
  /** True if trailers may follow the body. */
  readonly waitForTrailers?: boolean;
}

/** The side of a client of an HTTP/2 connection. */
export interface ClientConnection {
  readonly destroyed: boolean;
  /** True if no further request can be sent, because all numbers of streams are used. */
  readonly isExhausted: boolean;
  /** Lets the connection keep the process running, or not. */
  ref(): void;
  unref(): void;
  /** Opens a stream with this header list, flat. Throws for one that cannot be sent. */
  request(observer: StreamObserver, headers: readonly string[], options: RequestOptions): ClientStream;
  /** Opens a stream that its user reads and writes directly. Only connections of `node:http2` have it. */
  openTunnel?(headers: readonly string[]): ClientHttp2Stream;
  /** Sends a `PING`. */
  ping(): void;
  /** Closes the connection in order, when no streams are open. */
  close(): void;
  destroy(error?: Error): void;
}
