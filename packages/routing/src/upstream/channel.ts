import type { LocalEnd } from '../format/local-end.ts';
import type { RequestBody } from '../http1/request-body.ts';
import type { RequestLine } from '../http1/request-head.ts';
import type { ResponseSink } from '../http1/response-parser.ts';
import type { ClientAddresses } from './connect/proxy-header.ts';

/** A request to a host before it is written. */
export interface ChannelRequest extends RequestLine {
  readonly body: Buffer | RequestBody | undefined;
  /** Headers as the client wrote them, flat, if their names keep their case. */
  readonly writtenNames?: readonly string[] | undefined;
}

/** The head of a request in the form of its HTTP version: the text of HTTP/1.1, or the flat header list of HTTP/2. */
export type PreparedHead = string | readonly string[];

/** How far a request got before it failed. */
export interface ChannelProgress {
  /** True if the connection served a request before: the peer may just have closed it. */
  readonly reused: boolean;
  /** True once a part of the request is written. */
  readonly sent: boolean;
  /** True once a part of the response was received. */
  readonly responding: boolean;
}

/** One exchange of a request and its response: a connection of HTTP/1.1, or a stream of HTTP/2. */
export interface Channel extends ChannelProgress {
  /** This side of the connection; unknown over a Unix socket. */
  readonly local: LocalEnd | undefined;
  /** The trailers of the response that ends, in `onEnd`. */
  readonly trailers: readonly string[];
  /** Writes a request: its head, and a buffered or streamed body. */
  write(method: string, head: PreparedHead, body: Buffer | RequestBody | undefined): void;
  pause(): void;
  resume(): void;
  /** Returns the data that the user received, so that it can be kept. */
  keep(buffer: Buffer, start: number, end: number): Buffer;
  /** True if data in this buffer is kept by {@link detachBuffer} alone, without a copy. */
  owns(buffer: Buffer): boolean;
  /** Keeps the buffer, with data that is still needed, out of the next reads. */
  detachBuffer(): void;
  /** Released by its user. */
  leave(): void;
  /** Released because the response is late: the connection may be dead. */
  leaveLate(): void;
  /** Released during a response that is not read further. */
  abandon(): void;
}

/** The user of a channel, which it holds exclusively from `onOpen` to `onEnd` or `onBroken`. */
export interface ChannelUser extends ResponseSink {
  /** Connection of the client, for the PROXY header. */
  readonly client?: ClientAddresses | undefined;
  /** The channel is open: the request can be written. */
  onOpen(channel: Channel): void;
  /** The channel could not be opened, or ended before the response was complete. */
  onBroken(progress: ChannelProgress, error: Error): void;
}

/** The connections to one host that speak one HTTP version. */
export interface ChannelPool {
  /** True for HTTP/2. */
  readonly isHttp2: boolean;
  /** Returns the head of a request as it is written. Throws a `RequestHeadError` if it is unsafe to send. */
  prepare(request: ChannelRequest): PreparedHead;
  /** Assigns a channel to `user`, immediately or when there is one. Returns false if too many users wait already. */
  acquire(user: ChannelUser): boolean;
  /** Assigns a channel to `user` on a connection other than one that failed. Returns false if the limit is reached. */
  acquireFresh(user: ChannelUser): boolean;
  /** Removes a user from the queue, or from the connection that is being opened for it. */
  cancel(user: ChannelUser): void;
  /** Resolves when the last exchange has ended and its connection is closed. Further exchanges are served until then. */
  close(): Promise<void>;
}
