import { ChunkReader } from './chunks.ts';
import { UpstreamProtocolError } from './errors.ts';
import type { HeadCache } from './head-cache.ts';
import type { ResponseHead } from './response-head.ts';

/** Maximum size of a response head, in bytes. */
const MAX_HEAD_BYTES = 64 * 1024;
/** Maximum number of interim responses (1xx) before a final one. */
const MAX_INTERIM = 16;
/** Reads up to this size are decoded as a whole, which is cheaper than searching for the end of the head first. */
const SMALL = 16 * 1024;
const BEGINNING = 'HTTP/1.';

/** Receives the output of the parser. An error that it throws ends the parsing. */
export interface ResponseSink {
  onHead(head: ResponseHead): void;
  /** An interim response (1xx), before the final one. */
  onInterim?(head: ResponseHead): void;
  /** The head is complete, without any bytes of the body. */
  onHeadAlone(): void;
  /** Bytes of the body: from `start` to `end` of `buffer`, which is reused after the call. */
  onBody(buffer: Buffer, start: number, end: number): void;
  /** The last bytes, possibly none: the response is complete. */
  onEnd(buffer: Buffer, start: number, end: number): void;
}

type State = 'idle' | 'head' | 'length' | 'chunked' | 'close';

/** Parses the responses on a connection, one at a time. */
export class ResponseParser {
  readonly #sink: ResponseSink;
  readonly #heads: HeadCache;
  #state: State = 'idle';
  #bodiless = false;
  #isConnect = false;
  #partial = '';
  #interim = 0;
  #left = 0;
  #chunks: ChunkReader | undefined;
  #head: ResponseHead | undefined;

  constructor(sink: ResponseSink, heads: HeadCache) {
    this.#sink = sink;
    this.#heads = heads;
  }

  /** True if no response is expected, or the expected one was read completely. */
  get idle(): boolean {
    return this.#state === 'idle';
  }

  /** The trailers of the response that ends, in `onEnd`. */
  get trailers(): readonly string[] {
    return this.#chunks?.trailers ?? NO_TRAILERS;
  }

  /** The head of the current or last response. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  expect(method: string): void {
    this.#state = 'head';
    this.#bodiless = method === 'HEAD';
    this.#isConnect = method === 'CONNECT';
    this.#partial = '';
    this.#interim = 0;
    this.#head = undefined;
  }

  /** Reads `length` bytes and returns how many of them belong to the response. Throws an `UpstreamProtocolError`. */
  read(buffer: Buffer, length: number): number {
    let at = 0;
    while (this.#state === 'head') {
      at = this.#readHead(buffer, at, length);
      if (at < 0) return length;
    }
    if (this.#state === 'idle') return at;
    if (at < length) return this.#readBody(buffer, at, length);
    if (this.#head !== undefined) this.#sink.onHeadAlone();
    return at;
  }

  /** Ends the input with the connection. Returns true if this completes the response. */
  end(): boolean {
    if (this.#state !== 'close') return false;
    this.#finish(EMPTY, 0, 0);
    return true;
  }

  /** Returns the offset of the body, or -1 if the head is incomplete. */
  #readHead(buffer: Buffer, start: number, length: number): number {
    const before = this.#partial.length;
    const known = before === 0 ? this.#heads.repeated(buffer, start, length, this.#bodiless) : undefined;
    if (known) {
      this.#take(known.head);
      return start + known.text.length;
    }
    const headEnd = length - start > SMALL ? endOfHead(buffer, start, length) : length;
    const text = this.#partial + buffer.toString('latin1', start, headEnd);
    const end = text.indexOf('\r\n\r\n', Math.max(before - 3, 0));
    if (end < 0 || end > MAX_HEAD_BYTES) {
      this.#keep(text, before);
      return -1;
    }
    const head = this.#heads.read(text.slice(0, end + 2), this.#bodiless);
    const bodyStart = start + end + 4 - before;
    this.#partial = '';
    this.#take(head);
    return bodyStart;
  }

  #take(head: ResponseHead): void {
    if (head.status < 200) this.#passInterim(head);
    else this.#begin(head);
  }

  #keep(text: string, before: number): void {
    if (text.length > MAX_HEAD_BYTES) throw new UpstreamProtocolError('the head is too long');
    const begins = text.length < BEGINNING.length ? BEGINNING.startsWith(text) : text.startsWith(BEGINNING);
    if (!begins) throw new UpstreamProtocolError('the response does not begin with HTTP/1.');
    if (/[^\r]\n/.test(text.slice(Math.max(before - 1, 0)))) {
      throw new UpstreamProtocolError('the head has a bare line feed');
    }
    this.#partial = text;
  }

  #passInterim(head: ResponseHead): void {
    if (head.status === 101) throw new UpstreamProtocolError('it switched protocols without an upgrade request');
    if (++this.#interim > MAX_INTERIM) throw new UpstreamProtocolError('too many interim responses');
    this.#sink.onInterim?.(head);
  }

  #begin(head: ResponseHead): void {
    // The tunnel follows, regardless of the header fields (RFC 9110 §9.3.6).
    const isTunnel = this.#isConnect && head.status < 300;
    const framing = isTunnel ? 'close' : head.framing;
    this.#head = head;
    this.#state = typeof framing === 'number' ? 'length' : framing;
    this.#left = typeof framing === 'number' ? framing : 0;
    this.#chunks = framing === 'chunked' ? new ChunkReader() : undefined;
    this.#sink.onHead(head);
    if (framing === 0) this.#finish(EMPTY, 0, 0);
  }

  #readBody(buffer: Buffer, start: number, length: number): number {
    if (this.#state === 'chunked') return this.#readChunks(buffer, start, length);
    if (this.#state === 'close') {
      this.#sink.onBody(buffer, start, length);
      return length;
    }
    const end = Math.min(length, start + this.#left);
    this.#left -= end - start;
    if (this.#left === 0) this.#finish(buffer, start, end);
    else this.#sink.onBody(buffer, start, end);
    return end;
  }

  #readChunks(buffer: Buffer, start: number, end: number): number {
    const chunks = this.#chunks!;
    // The chunks of one read are moved together, over the chunk sizes in between.
    let from = 0;
    let to = 0;
    const stopped = chunks.read(buffer, { start, end }, (dataStart, dataEnd) => {
      if (to === 0) from = to = dataStart;
      else buffer.copyWithin(to, dataStart, dataEnd);
      to += dataEnd - dataStart;
    });
    if (chunks.done) this.#finish(buffer, from, to);
    else if (to > from) this.#sink.onBody(buffer, from, to);
    // Follows a head, and contains no data yet.
    else if (start > 0) this.#sink.onHeadAlone();
    return stopped;
  }

  #finish(buffer: Buffer, start: number, end: number): void {
    this.#state = 'idle';
    this.#sink.onEnd(buffer, start, end);
    this.#chunks = undefined;
  }
}

const EMPTY = Buffer.alloc(0);
const NO_TRAILERS: readonly string[] = [];

/** Returns the end of the text to decode from a large read: after its first blank line, or its end. */
function endOfHead(buffer: Buffer, start: number, length: number): number {
  const end = buffer.indexOf('\r\n\r\n', start, 'latin1');
  return end < 0 || end + 4 > length ? length : end + 4;
}
