import type { Http2Head } from './http2-head.ts';
import type { ServerStream } from './server-stream.ts';

/** Observes the connection of a client. */
export interface SessionObserver {
  /** The client has sent a request, whether it is served or not. */
  onConnected(): void;
  /** A request was received; `bytes` is the size of its header list. */
  onStream(stream: ServerStream, head: Http2Head, bytes: number): void;
  /** The client has reset a stream before its request was received. */
  onResetStream(): void;
  /** A frame of a request was received, which may have a response already. */
  receive(bytes: number): void;
  /** The connection accepts no further requests, and is closed after those in progress. */
  onLast(): void;
  /** The client has violated the protocol, or sends too much of what no request needs. */
  onViolation(reason: string): void;
}

/** The side of a server of an HTTP/2 connection. */
export interface ServerSession {
  readonly destroyed: boolean;
  /** True if no further requests are accepted. */
  readonly closed: boolean;
  /**
   * Closes the connection when the requests in progress have ended. With `atOnce`, those that arrive from now on are refused, also if the client
   * cannot know that yet.
   */
  close(atOnce: boolean): void;
  /** Closes the connection with `ENHANCE_YOUR_CALM` (RFC 9113 7). */
  reject(reason: string): void;
  /** The number of bytes that wait to be read has changed. */
  hold(change: number): void;
}
