import type { OutgoingHttpHeaders } from 'node:http2';

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

/** The stream of a request and its response: a `ServerHttp2Stream`, or one with the same methods. */
export interface ServerStream {
  /** True if it takes header lists as they are, flat, and passes the body to {@link readBody} at once. */
  readonly isDirect?: boolean;
  readonly destroyed: boolean;
  /** Both sides have ended, or the stream was reset. */
  readonly closed: boolean;
  /** The client has reset the stream, or the connection is closed. */
  readonly aborted: boolean;
  readonly rstCode?: number | undefined;
  /** Only of a stream of Node: what the client may still send before the next window update, in bytes. */
  readonly state?: { readonly localWindowSize?: number };
  /** The request has no body. */
  readonly endAfterHeaders: boolean;
  readonly readableEnded: boolean;
  readonly readableLength: number;
  /** The response was sent completely. */
  readonly writableFinished: boolean;
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  readonly writableHighWaterMark: number;
  /** Sends the head of the response. */
  respond(head: OutgoingHttpHeaders | readonly string[], options: RespondOptions): void;
  /** Sends the head of an interim response. */
  additionalHeaders(headers: OutgoingHttpHeaders): void;
  /** Called by the listener of `wantTrailers`. */
  sendTrailers(trailers: OutgoingHttpHeaders | readonly string[]): void;
  /** Returns false if the listener of `drain` shall be waited for. */
  write(chunk: string | Uint8Array, encoding?: BufferEncoding, written?: (error?: Error | null) => void): boolean;
  end(chunk?: string | Uint8Array, encoding?: BufferEncoding): unknown;
  /** Resets the stream, by default without an error. */
  close(code?: number): void;
  destroy(error?: Error): unknown;
  pause(): unknown;
  resume(): unknown;
  on(event: 'close' | 'aborted', listener: () => void): unknown;
  once(event: 'drain' | 'finish' | 'wantTrailers', listener: () => void): unknown;
  /** Only of a direct stream. */
  readBody?(reader: BodyReader): void;
  /** Only of a direct stream: bytes of the body were read. */
  consumed?(bytes: number): void;
}
