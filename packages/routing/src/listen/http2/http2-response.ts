import { STATUS_CODES, type OutgoingHttpHeader, type OutgoingHttpHeaders } from 'node:http';
import type { OutgoingHttpHeaders as Http2Headers } from 'node:http2';
import { Stream } from 'node:stream';
import { isHeaderBytes, isHeaderName } from '@edge-gateway/core';
import { isHopByHop } from '../../http1/hop-by-hop.ts';
import { registerReleasingWrite } from '../../http1/read-buffer.ts';
import type { Http2Request } from './http2-request.ts';
import type { FrameServerStream } from './frame-server-stream.ts';

type Written = () => void;
type Chunk = string | Uint8Array;

/** Called with the events of a response that its connection observes. */
export interface ResponseObserver {
  /** The response goes on: its client has received what was written before. */
  onProgress(): void;
  /** The handler limits the pauses of the stream itself, until the response has ended: then its rest must be sent in this time. */
  onSuspend(flushMs: number): void;
  /** The response is complete; its rest may wait for the client. */
  onEnded(): void;
}

/**
 * A response on an HTTP/2 connection, with the interface of one over HTTP/1.1 as far as handlers use it. The head is sent with the
 * first bytes of the body, so that a complete response is one write; headers of a connection are dropped.
 */
export class Http2Response extends Stream {
  readonly req: Http2Request;
  readonly stream: FrameServerStream;
  /** There is no connection that belongs to this response. */
  readonly socket = null;
  readonly connection = null;
  statusCode = 200;
  statusMessage = '';
  shouldKeepAlive = true;
  sendDate = true;
  readonly chunkedEncoding = false;
  // Private: filters of the response replace the properties that handlers see.
  #isHeadWritten = false;
  #isEnded = false;
  #observer: ResponseObserver | undefined;
  /** Headers that were set one by one, by lower-case name. */
  #set: Map<string, string | readonly string[]> | undefined;
  /** The head, until it is sent. */
  #head: string[] | undefined;
  #trailers: string[] | undefined;
  #isBodiless = false;
  /** The end of the response is sent with its trailers. */
  #waitsForTrailers = false;
  /** The rest of the request is not wanted behind the end of the response. */
  #stopsUpload = false;
  #waitsForDrain = false;
  #writtenBytes = 0;

  constructor(req: Http2Request) {
    super();
    this.req = req;
    this.stream = req.stream;
  }

  set observer(observer: ResponseObserver) {
    this.#observer = observer;
  }

  get headersSent(): boolean {
    return this.#isHeadWritten;
  }

  /** True once `end` was called. */
  get writableEnded(): boolean {
    return this.#isEnded;
  }

  get destroyed(): boolean {
    return this.stream.destroyed || this.stream.closed;
  }

  get writable(): boolean {
    return !this.#isEnded && !this.destroyed;
  }

  get finished(): boolean {
    return this.#isEnded;
  }

  /** True if the response was sent completely. */
  get writableFinished(): boolean {
    return this.#isEnded && this.stream.writableFinished && !this.stream.aborted;
  }

  get writableLength(): number {
    return this.stream.writableLength;
  }

  /** Bytes of the body that the flow control of the client has let through. */
  get sentBytes(): number {
    return this.#writtenBytes - this.stream.writableLength;
  }

  get writableNeedDrain(): boolean {
    return this.stream.writableNeedDrain;
  }

  get writableHighWaterMark(): number {
    return this.stream.writableHighWaterMark;
  }

  setHeader(name: string, value: OutgoingHttpHeader | readonly string[]): this {
    if (this.#isHeadWritten) throw headersSent();
    const text = Array.isArray(value) ? value.map(String) : String(value);
    (this.#set ??= new Map()).set(checkedName(name), checkedValues(name, text));
    return this;
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    const before = this.#set?.get(name.toLowerCase());
    return this.setHeader(name, before === undefined ? value : [before, value].flat());
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#set?.get(name.toLowerCase()) as OutgoingHttpHeader | undefined;
  }

  getHeaderNames(): string[] {
    return [...(this.#set?.keys() ?? [])];
  }

  getHeaders(): OutgoingHttpHeaders {
    return Object.assign(Object.create(null), Object.fromEntries(this.#set ?? [])) as OutgoingHttpHeaders;
  }

  hasHeader(name: string): boolean {
    return this.#set?.has(name.toLowerCase()) === true;
  }

  removeHeader(name: string): void {
    if (this.#isHeadWritten) throw headersSent();
    this.#set?.delete(name.toLowerCase());
  }

  /** Throws for headers that cannot be sent: then another head is still possible. */
  writeHead(status: number, ...rest: unknown[]): this {
    if (this.#isHeadWritten) throw headersSent();
    if (!Number.isInteger(status) || status < 200 || status > 599) throw new RangeError(`invalid status ${status}`);
    const head = this.#headOf(status, rest.at(-1));
    this.statusCode = status;
    this.statusMessage = STATUS_CODES[status] ?? '';
    this.#isBodiless = status === 204 || status === 205 || status === 304 || this.req.method === 'HEAD';
    // The stream ends with the head (RFC 9110 15.3.6): a length would contradict that.
    this.#head = status === 205 ? withoutLength(head) : head;
    this.#isHeadWritten = true;
    return this;
  }

  flushHeaders(): void {
    this.#sendHead(false);
  }

  write(chunk: Chunk, ...rest: unknown[]): boolean {
    const { encoding, written } = optionsOf(rest);
    if (this.#isEnded) throw Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' });
    this.#sendHead(false);
    if (this.stream.writableLength === 0) this.#observer?.onProgress();
    if (this.#isBodiless || this.destroyed) {
      if (written) process.nextTick(written);
      return true;
    }
    this.#writtenBytes += chunk.length;
    const more = this.stream.write(chunk, encoding, written);
    if (!more && !this.#waitsForDrain) {
      this.#waitsForDrain = true;
      this.stream.once('drain', this.#onDrain);
    }
    return more;
  }

  end(...written: unknown[]): this {
    const [first] = written;
    const chunk = typeof first === 'string' || first instanceof Uint8Array ? first : undefined;
    const { encoding, written: callback } = optionsOf(chunk === undefined ? written : written.slice(1));
    if (callback) this.once('finish', callback);
    if (this.#isEnded) return this;
    const isEmpty = chunk === undefined || chunk.length === 0;
    if (!this.#isHeadWritten) this.writeHead(this.statusCode);
    if (this.#head && !this.#trailers && !isEmpty) this.#addLength(Buffer.byteLength(chunk, encoding));
    this.#isEnded = true;
    this.#observer?.onEnded();
    const endsWithHead = this.#head !== undefined && (isEmpty || this.#isBodiless) && !this.#trailers;
    this.#sendHead(endsWithHead);
    if (this.destroyed) return this;
    // The rest of an upload is not needed once the response is sent.
    if (!this.req.complete && !this.req.isTunnel) this.stream.once('finish', this.#stopUpload);
    if (isEmpty || this.#isBodiless) this.stream.end();
    else {
      this.#writtenBytes += chunk.length;
      this.stream.end(chunk, encoding);
    }
    return this;
  }

  addTrailers(trailers: OutgoingHttpHeaders | readonly (readonly [string, string])[]): void {
    const pairs = Array.isArray(trailers) ? trailers : Object.entries(trailers);
    for (const [name, value] of pairs as [string, string][]) addField((this.#trailers ??= []), name, String(value));
  }

  writeContinue(): void {
    this.#sendInterim({ ':status': 100 });
  }

  writeProcessing(): void {
    this.#sendInterim({ ':status': 102 });
  }

  writeEarlyHints(hints: Readonly<Record<string, string | string[]>>): void {
    const checked = Object.entries(hints).map(([name, value]) => [checkedName(name), checkedValues(name, value)]);
    this.#sendInterim({ ...(Object.fromEntries(checked) as Http2Headers), ':status': 103 });
  }

  /** Ends the response where it is: the client must not take it for complete. */
  destroy(error?: Error): this {
    if (!this.stream.destroyed && !this.writableFinished) this.stream.destroy(error ?? new Error('response aborted'));
    return this;
  }

  setTimeout(): this {
    return this;
  }

  cork(): void {}

  uncork(): void {}

  /** Turns off the idle timeout of the listener for this stream, until its rest is to be sent in `flushMs`; 0: in the time of the listener. */
  suspendIdleTimeout(flushMs: number): void {
    this.#observer?.onSuspend(flushMs);
  }

  /** The stream is closed: nothing more is sent. */
  closed(): void {
    if (this.writableFinished) this.emit('finish');
    this.emit('close');
  }

  #headOf(status: number, headers: unknown): string[] {
    const head = [':status', String(status)];
    const given = flatOf(headers);
    for (const [name, values] of this.#set ?? []) {
      if (given.some((each, i) => i % 2 === 0 && each.toLowerCase() === name)) continue;
      for (const value of [values].flat()) addField(head, name, value);
    }
    for (let i = 0; i < given.length; i += 2) addField(head, given[i]!, given[i + 1]!);
    return head;
  }

  /** A complete response with a body has a length, as over HTTP/1.1. */
  #addLength(length: number): void {
    const head = this.#head!;
    if (this.#isBodiless) return;
    for (let i = 2; i < head.length; i += 2) if (head[i] === 'content-length') return;
    head.push('content-length', String(length));
  }

  #sendHead(isEnd: boolean): void {
    if (!this.#isHeadWritten) this.writeHead(this.statusCode);
    const head = this.#head;
    if (head === undefined) return;
    this.#head = undefined;
    if (this.destroyed) return;
    const { stream } = this;
    const mayHaveTrailers = !isEnd && !this.#isBodiless && this.#expectsTrailers(head);
    this.#waitsForTrailers = mayHaveTrailers;
    if (mayHaveTrailers) stream.once('wantTrailers', this.#sendTrailers);
    stream.respond(head, { endStream: isEnd, waitForTrailers: mayHaveTrailers, sendDate: this.sendDate });
  }

  /** Trailers may follow a body whose length is not known yet. */
  #expectsTrailers(head: readonly string[]): boolean {
    return this.#trailers !== undefined || (!this.#isEnded && !head.includes('content-length'));
  }

  readonly #sendTrailers = (): void => {
    const { stream } = this;
    this.#waitsForTrailers = false;
    if (stream.destroyed) return;
    stream.sendTrailers(this.#trailers ?? []);
    if (this.#stopsUpload) this.#stopUpload();
  };

  readonly #stopUpload = (): void => {
    this.#stopsUpload = true;
    // The end of the response is sent with its trailers, also without any, and soon after they are passed on.
    if (!this.#waitsForTrailers) setImmediate(this.#closeStream);
  };

  readonly #closeStream = (): void => {
    if (this.req.complete) return;
    this.stream.close();
  };

  readonly #onDrain = (): void => {
    this.#waitsForDrain = false;
    this.#observer?.onProgress();
    this.emit('drain');
  };

  #sendInterim(headers: Http2Headers): void {
    if (!this.#isHeadWritten && !this.destroyed) this.stream.additionalHeaders(headers);
  }
}

registerReleasingWrite(Http2Response.prototype.write);

function addField(head: string[], name: string, value: string): void {
  if (isHopByHop(name) && name.toLowerCase() !== 'trailer') return;
  head.push(checkedName(name), checkedValue(name, value));
}

const withoutLength = (head: readonly string[]): string[] =>
  head.filter((_text, i, all) => all[i - (i % 2)] !== 'content-length');

function checkedName(name: string): string {
  const lower = name.toLowerCase();
  if (!isHeaderName(lower)) throw new TypeError(`invalid header name ${JSON.stringify(name)}`);
  return lower;
}

function checkedValue(name: string, value: string): string {
  if (!isHeaderBytes(value)) throw new TypeError(`invalid value of header ${name}`);
  return value;
}

function checkedValues(name: string, values: string | readonly string[]): string | readonly string[] {
  for (const value of [values].flat()) checkedValue(name, value);
  return values;
}

function flatOf(headers: unknown): readonly string[] {
  if (Array.isArray(headers)) return headers as string[];
  if (typeof headers !== 'object' || headers === null) return [];
  return Object.entries(headers).flatMap(([name, value]) =>
    [value as string | string[] | undefined].flat().flatMap((each) => (each === undefined ? [] : [name, String(each)])),
  );
}

function optionsOf([first, second]: readonly unknown[]): { encoding: BufferEncoding; written: Written | undefined } {
  const encoding = typeof first === 'string' ? (first as BufferEncoding) : 'utf8';
  const written = typeof first === 'function' ? first : second;
  return { encoding, written: typeof written === 'function' ? (written as Written) : undefined };
}

function headersSent(): Error {
  const error = new Error('Cannot write headers after they are sent to the client');
  return Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' });
}
