import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';

/** A part of a request over HTTP/2. */
export interface RequestPart {
  readonly body: string;
  readonly trailers: readonly Field[];
  /** Whether the request ends here. */
  readonly ends: boolean;
  /** Resets the stream with this code, behind the rest of the part. */
  readonly reset?: number;
}

/** A request over HTTP/2, sent as it is. */
export interface Http2Request {
  /** With pseudo-headers. */
  readonly fields: readonly Field[];
  /** The first one is sent with the head, each further one when an interim response has arrived. */
  readonly parts: readonly RequestPart[];
  /** Whether a response with 2xx opens a tunnel. */
  readonly opensTunnel?: true;
  /** Sends the second part when an upstream has received the first one. */
  readonly waits?: true;
}

/** Requests that only HTTP/2 can express, on one connection. */
export interface Http2Call {
  readonly http2: readonly Http2Request[];
}

/** What a scripted upstream can do with a stream. */
export interface UpstreamStream {
  headers(fields: readonly Field[], ends: boolean): void;
  data(text: string, ends: boolean): void;
  reset(code: number): void;
  /** Announces the end of the connection: `before` or `after` this request. */
  goaway(place: 'before' | 'after', code?: number): void;
  /** Ends the connection. */
  end(): void;
}

/** A reply that only HTTP/2 can express. */
export interface Http2Reply {
  /** Sent when the head of the request has arrived; the rest of it is ignored. */
  readonly isEarly?: true;
  readonly http2: (stream: UpstreamStream) => void;
}
