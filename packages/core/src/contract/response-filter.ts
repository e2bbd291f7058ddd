/** The head of a response while filters change it. */
export interface FilteredHead {
  status: number;
  /**
   * Flat `[name, value, …]`. A filter may replace the list. The framing of a changed body is corrected afterwards, and headers that describe its former
   * bytes are removed: digests, ranges, a strong `etag`.
   */
  headers: string[];
  /** True if the gateway or a handler of the chain responds instead of the destination. */
  readonly isLocalReply: boolean;
  /** `%RESPONSE_CODE_DETAILS%`, e.g. `via_upstream`. */
  readonly details: string;
  /** `%RESPONSE_FLAGS%`; empty without a failure. */
  readonly flags: string;
  /** False for HEAD and for statuses without a body: whatever a filter returns as body is not sent. */
  readonly hasBody: boolean;
  /** True once the body has been received with trailers. */
  readonly hasTrailers?: boolean;
  /** Flat trailers that were received with the body; complete once all of the body is read. */
  readonly trailers?: readonly string[];
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The head of a response that opens a tunnel, such as a WebSocket: it has no body. */
export type TunnelHead = Omit<FilteredHead, 'hasTrailers' | 'signal' | 'trailers'>;

/**
 * Reads the whole body. `transform` may still change the head, which was not sent yet. Without a body it is called with an
 * empty one. `content-length` is set to the length of the result. A result that is the same buffer counts as unchanged.
 */
export interface WholeBody {
  /** Maximum size of the body in bytes. */
  readonly maxBytes: number;
  /** The error for a larger body. Default: 500 `ERR_CORE_RESPONSE_TOO_LARGE`. */
  readonly tooLarge?: () => Error;
  transform(body: Buffer): Buffer | Promise<Buffer>;
  /**
   * Changes the first `maxBytes` or more of a body that is larger; the rest passes unchanged. Missing: a larger body is an error.
   */
  transformStart?(start: Buffer): Buffer | Promise<Buffer>;
}

/**
 * Changes the body while it is streamed. `stream` is called only if there is a body. The next chunk is read when it is
 * requested, so that the client slows down the sender. `content-length` is removed.
 */
export interface StreamedBody {
  /** The head is sent with the first chunk of the result, or at its end, so that `stream` may change it until then. Default: at once. */
  readonly holdsHead?: boolean;
  stream(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
}

/** How a filter reads a body: as a whole or as a stream. */
export type BodyChange = WholeBody | StreamedBody;

/**
 * Filters one response, whoever writes it: the destination, the gateway, or another handler.
 *
 * @example
 * // Converts every text to upper case, in chunks.
 * const upperCase: ResponseFilter = {
 *   onHead: (head) =>
 *     headerIn(head.headers, 'content-type') === 'text/plain'
 *       ? {
 *           async *stream(chunks) {
 *             for await (const chunk of chunks) yield Buffer.from(chunk.toString('latin1').toUpperCase(), 'latin1');
 *           },
 *         }
 *       : undefined,
 * };
 * handler.filterResponse = () => upperCase;
 */
export interface ResponseFilter {
  /**
   * Called once, before the head is sent; may change it. Returns `undefined` if the body passes unchanged. An error is sent as
   * response instead; during the body it aborts the connection.
   */
  onHead(head: FilteredHead): BodyChange | undefined | Promise<BodyChange | undefined>;
  /**
   * Called instead of `onHead` if the response opens a tunnel. May change the headers; its status and its body stay. An error is sent as response instead.
   */
  onTunnel?(head: TunnelHead): void | Promise<void>;
  /**
   * Called after the body with the trailers of the response, flat; returns the trailers to send. Not called for a response without trailers, or
   * whose body another filter sends with its length: that has none. An error aborts the connection.
   */
  onTrailers?(trailers: readonly string[]): readonly string[] | Promise<readonly string[]>;
  /** Called once at the end, also if the client disconnects. */
  onClose?(): void;
}
