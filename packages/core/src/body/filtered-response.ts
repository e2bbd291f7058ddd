import type { IncomingMessage, ServerResponse } from 'node:http';
import { applyHeaderChanges, type HeaderChange } from '../contract/facts.ts';
import type { BodyChange, FilteredHead, ResponseFilter, WholeBody } from '../contract/response-filter.ts';
import { coreError } from '../error-codes.ts';
import type { ReplyBody } from '../http/reply-body.ts';
import { lingerOnClose } from '../http/lingering-close.ts';
import { BodyQueue } from './body-queue.ts';
import { headersOfChangedBody } from './changed-body.ts';
import { FilteredTrailers } from './filtered-trailers.ts';
import { hasSetHeaders, headOf, writeHeadTo, type HeadArguments } from './written-head.ts';

/** A response that replaces one whose filter failed. */
export interface FailureReply {
  readonly status: number;
  /** Flat, without `content-length`. */
  readonly headers: readonly string[];
  readonly body: ReplyBody;
}

/** The server of a filtered response. */
export interface FilterOwner {
  /** Returns the filters in the order of requests; responses pass them in reverse. Called when the head is written. */
  filters(): ResponseFilter[];
  /** Describes the response whose head is being written. */
  describe(): Pick<FilteredHead, 'isLocalReply' | 'details' | 'flags'>;
  /** Called with the final head before it is sent; returns the headers to send. */
  onHead(status: number, headers: string[]): string[];
  /** Called with trailers that filters have changed, flat, before they are sent. */
  onTrailers?(trailers: readonly string[]): void;
  /** Returns the response to an error of a filter. `isStarted`: the head was sent, the connection is aborted. */
  onError(error: unknown, isStarted: boolean): FailureReply;
  /** Called once after the end of the response, or after the client has disconnected. */
  onSettled(): void;
}

const REPLACED = [
  'writeHead',
  'write',
  'end',
  'flushHeaders',
  'destroy',
  'headersSent',
  'writableEnded',
  'addTrailers',
] as const;
type Originals = Pick<ServerResponse, 'addTrailers' | 'destroy' | 'end' | 'flushHeaders' | 'write' | 'writeHead'>;

/**
 * Passes what is written to a response through filters: its `writeHead`, `write` and `end` are replaced until the filters
 * have decided that the body passes unchanged, or until the end.
 */
export class FilteredResponse {
  /** Bytes of the body that were sent; `undefined` if it was not filtered. */
  bytes: number | undefined;
  /** True from the head to the end of a response whose body is filtered. */
  isPending = false;
  /** True if the response was written completely. */
  isComplete = false;
  /** True if a filter failed, and its error was sent instead of the response. */
  isReplaced = false;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #owner: FilterOwner;
  readonly #originals: Originals;
  readonly #queue: BodyQueue;
  readonly #trailers: FilteredTrailers;
  /** Own properties of the response before they were replaced. */
  readonly #before = new Map<string, PropertyDescriptor | undefined>();
  #filters: ResponseFilter[] = [];
  #abort: AbortController | undefined;
  #isCaptured = false;
  #isEnded = false;
  #isHeadSent = false;
  #isFlushed = false;
  #isSettled = false;
  #isDetached = false;

  constructor(req: IncomingMessage, res: ServerResponse, owner: FilterOwner) {
    this.#req = req;
    this.#res = res;
    this.#owner = owner;
    this.#originals = {
      writeHead: res.writeHead.bind(res) as ServerResponse['writeHead'],
      write: res.write.bind(res) as ServerResponse['write'],
      end: res.end.bind(res) as ServerResponse['end'],
      flushHeaders: res.flushHeaders.bind(res),
      destroy: res.destroy.bind(res),
      addTrailers: res.addTrailers.bind(res),
    };
    this.#trailers = new FilteredTrailers(this.#originals.addTrailers);
    this.#queue = new BodyQueue(() => res.emit('drain'));
    this.#attach();
    res.once('close', () => this.#closed());
  }

  #attach(): void {
    const res = this.#res;
    for (const name of REPLACED) this.#before.set(name, Object.getOwnPropertyDescriptor(res, name));
    res.writeHead = ((...written: HeadArguments) => {
      if (this.#isCaptured) throw headersSent();
      this.#begin(written);
      return res;
    }) as ServerResponse['writeHead'];
    res.write = ((chunk: Chunk, ...rest: Rest) => this.#write(chunk, rest)) as ServerResponse['write'];
    res.end = ((...rest: [Chunk?, ...Rest]) => this.#end(rest)) as ServerResponse['end'];
    res.flushHeaders = () => {
      if (!this.#isCaptured) this.#begin([res.statusCode]);
      this.#isFlushed = true;
      if (this.#isHeadSent) this.#originals.flushHeaders();
    };
    res.addTrailers = (trailers) => this.#trailers.add(trailers);
    // The writer does not know how the filtered body is framed.
    res.destroy = (error) => {
      if (this.#isHeadSent && this.isPending) resetUnframed(res);
      return this.#originals.destroy(error);
    };
    Object.defineProperty(res, 'headersSent', { configurable: true, get: () => this.#isCaptured });
    Object.defineProperty(res, 'writableEnded', { configurable: true, get: () => this.#isEnded });
  }

  /** The rest of the response is not filtered; it may be that of a tunnel. */
  detach(): void {
    this.#isDetached = true;
    for (const [name, before] of this.#before) {
      if (before) Object.defineProperty(this.#res, name, before);
      else Reflect.deleteProperty(this.#res, name);
    }
  }

  #begin(written: HeadArguments): void {
    this.#isCaptured = true;
    this.isPending = true;
    const { status, message, headers } = headOf(this.#res, written);
    const owner = this.#owner;
    const trailers = this.#trailers;
    const abort = (): AbortSignal => (this.#abort ??= new AbortController()).signal;
    const head: FilteredHead = {
      status,
      headers,
      ...owner.describe(),
      hasBody: !this.#isBodiless(status),
      get hasTrailers() {
        return !trailers.isEmpty;
      },
      get trailers() {
        return trailers.flat;
      },
      get signal() {
        return abort();
      },
    };
    void this.#filter(head, message === undefined ? undefined : { status, message });
  }

  async #filter(head: FilteredHead, reason: StatusMessage | undefined): Promise<void> {
    try {
      this.#filters = this.#owner.filters().toReversed();
      let body: Buffer | AsyncIterable<Buffer> | undefined;
      let wasAsync = false;
      for (const filter of this.#filters) {
        const received = head.headers;
        const decided = filter.onHead(head);
        wasAsync ||= decided instanceof Promise;
        // oxlint-disable-next-line no-await-in-loop -- a filter sees the changes of the previous ones
        const change = decided instanceof Promise ? await decided : decided;
        // oxlint-disable-next-line no-await-in-loop -- as above
        const changed = change && (await this.#change(change, body ?? this.#queue, head));
        body = changed?.body ?? body;
        if (changed?.isChanged) head.headers = headersOfChangedBody(head.headers, received);
        if (this.#isSettled) return;
      }
      this.#writeHead(head, { reason, body });
      if (body === undefined && !wasAsync && !this.#filtersTrailers(head)) return this.#pass();
      await this.#send(body ?? this.#queue, head.status);
    } catch (error) {
      try {
        this.#fail(error);
      } catch {
        // The response to the error cannot be sent either.
        this.#res.destroy();
      }
    }
  }

  async #change(change: BodyChange, body: Buffer | AsyncIterable<Buffer>, head: FilteredHead): Promise<Changed> {
    if (!('stream' in change)) return changeWhole(change, body);
    if (!head.hasBody) return { body: NO_CHUNKS, isChanged: true };
    const changed = change.stream(Buffer.isBuffer(body) ? oneChunk(body) : body);
    return { body: change.holdsHead ? await startedStream(changed) : changed, isChanged: true };
  }

  #writeHead(head: FilteredHead, { reason, body }: { reason: StatusMessage | undefined; body: unknown }): void {
    if (body !== undefined) {
      const changes: HeaderChange[] = [
        { op: 'remove', name: 'content-length' },
        { op: 'remove', name: 'transfer-encoding' },
      ];
      if (Buffer.isBuffer(body) && !this.#isBodiless(head.status))
        changes.push({ op: 'set', name: 'content-length', value: String(body.length) });
      head.headers = applyHeaderChanges(head.headers, changes);
    }
    const headers = this.#owner.onHead(head.status, head.headers);
    this.#sendHead(head.status, reason?.status === head.status ? reason.message : undefined, headers);
  }

  #sendHead(status: number, message: string | undefined, headers: string[]): void {
    this.#res.statusCode = status;
    if (hasSetHeaders(this.#res)) {
      writeHeadTo(this.#res, headers);
      this.#originals.writeHead(status, message);
    } else if (message === undefined) this.#originals.writeHead(status, headers);
    else this.#originals.writeHead(status, message, headers);
    // It throws for headers that cannot be sent: then another head is still possible.
    this.#isHeadSent = true;
  }

  /** The body passes unchanged: it is written by the caller from now on. */
  #pass(): void {
    this.isPending = false;
    this.detach();
    this.#trailers.pass();
    this.#settle();
  }

  /** Only a body without a length can have trailers. */
  #filtersTrailers({ hasBody, headers }: FilteredHead): boolean {
    if (!hasBody || !this.#filters.some(({ onTrailers }) => onTrailers)) return false;
    return !headers.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-length');
  }

  async #send(body: Buffer | AsyncIterable<Buffer>, status: number): Promise<void> {
    const { write, end, flushHeaders } = this.#originals;
    const res = this.#res;
    this.bytes = 0;
    if (this.#isBodiless(status)) {
      this.#queue.discard();
      end();
    } else if (Buffer.isBuffer(body)) {
      this.bytes = body.length;
      end(body);
    } else {
      if (this.#isFlushed) flushHeaders();
      for await (const chunk of body) {
        if (res.destroyed) break;
        if (chunk.length === 0) continue;
        this.bytes += chunk.length;
        if (!write(chunk)) await drained(res);
      }
      if (res.destroyed) return;
      const trailers = await this.#trailers.filter(this.#filters);
      if (trailers) this.#owner.onTrailers?.(trailers);
      end();
    }
    this.isComplete = true;
    this.#queue.discard();
    this.#settle();
  }

  /** Sends the response of an error, or aborts a response that has started. */
  #fail(error: unknown): void {
    const res = this.#res;
    this.#queue.discard();
    if (this.#isSettled || res.destroyed) return;
    const { status, headers, body } = this.#owner.onError(error, this.#isHeadSent);
    if (this.#isHeadSent) {
      res.destroy();
      return;
    }
    this.isReplaced = true;
    this.isComplete = true;
    const isUnread = !this.#req.complete && this.#req.httpVersionMajor < 2;
    const framed = this.#isBodiless(status) ? [] : ['content-length', String(Buffer.byteLength(body))];
    const all = [...headers, ...framed, ...(isUnread ? ['connection', 'close'] : [])];
    this.bytes = 0;
    this.#sendHead(status, undefined, this.#owner.onHead(status, all));
    if (isUnread) lingerOnClose(res);
    if (this.#isBodiless(status)) this.#originals.end();
    else {
      this.bytes = Buffer.byteLength(body);
      this.#originals.end(body);
    }
    this.#settle();
  }

  #write(chunk: Chunk, rest: Rest): boolean {
    if (!this.#isCaptured) this.#begin([this.#res.statusCode]);
    // The filters may have decided at once.
    if (this.#isDetached) return this.#res.write(chunk, ...(rest as []));
    return this.#queue.write(bytesOf(chunk, rest), callbackOf(rest));
  }

  #end(rest: [Chunk?, ...Rest]): ServerResponse {
    if (!this.#isCaptured) this.#begin([this.#res.statusCode]);
    if (this.#isDetached) return this.#res.end(...(rest as []));
    const [chunk] = rest;
    const written = callbackOf(rest as Rest);
    if (written) this.#res.once('finish', written);
    if (chunk !== undefined && chunk !== null && typeof chunk !== 'function')
      this.#queue.write(bytesOf(chunk, rest.slice(1) as Rest));
    this.#isEnded = true;
    this.#queue.end();
    return this.#res;
  }

  #isBodiless(status: number): boolean {
    return this.#req.method === 'HEAD' || status < 200 || status === 204 || status === 304;
  }

  #closed(): void {
    this.#abort?.abort();
    this.#queue.fail(new Error('the client disconnected'));
    this.#settle();
  }

  #settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.isPending = false;
    for (const filter of this.#filters) filter.onClose?.();
    this.#owner.onSettled();
  }
}

type Chunk = Uint8Array | string | null | (() => void);
type Rest = ((() => void) | BufferEncoding | undefined)[];

interface StatusMessage {
  readonly status: number;
  readonly message: string;
}

const NO_CHUNKS = Buffer.alloc(0);

async function* oneChunk(body: Buffer): AsyncIterable<Buffer> {
  yield body;
}

/** Resolves once the first chunk is there, or the end. */
async function startedStream(stream: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const chunks = stream[Symbol.asyncIterator]();
  const first = await chunks.next();
  return first.done ? oneChunk(NO_CHUNKS) : withRest(first.value, chunks);
}

/** A body that a filter has passed on. */
interface Changed {
  readonly body: Buffer | AsyncIterable<Buffer>;
  /** False if it has the same bytes as before. */
  readonly isChanged: boolean;
}

async function changeWhole(change: WholeBody, body: Buffer | AsyncIterable<Buffer>): Promise<Changed> {
  const { transformStart } = change;
  const transform = async (whole: Buffer): Promise<Changed> => {
    const result = await change.transform(whole);
    return { body: result, isChanged: result !== whole };
  };
  if (!transformStart) return transform(await readWhole(body, change));
  const rest = Buffer.isBuffer(body) ? oneChunk(body) : body;
  const chunks = rest[Symbol.asyncIterator]();
  const start: Buffer[] = [];
  let size = 0;
  while (size <= change.maxBytes) {
    // oxlint-disable-next-line no-await-in-loop -- one chunk after the other
    const next = await chunks.next();
    if (next.done) return transform(Buffer.concat(start));
    start.push(next.value);
    size += next.value.length;
  }
  const read = Buffer.concat(start);
  const result = await transformStart(read);
  return { body: withRest(result, chunks), isChanged: result !== read };
}

async function* withRest(start: Buffer, chunks: AsyncIterator<Buffer>): AsyncIterable<Buffer> {
  yield start;
  yield* { [Symbol.asyncIterator]: () => chunks };
}

async function readWhole(
  body: Buffer | AsyncIterable<Buffer>,
  { maxBytes, tooLarge }: { readonly maxBytes: number; readonly tooLarge?: () => Error },
): Promise<Buffer> {
  const fail = (): Error => tooLarge?.() ?? coreError('ERR_CORE_RESPONSE_TOO_LARGE');
  if (Buffer.isBuffer(body)) {
    if (body.length > maxBytes) throw fail();
    return body;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw fail();
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function bytesOf(chunk: Chunk, [encoding]: Rest): Buffer {
  if (typeof chunk === 'string') return Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8');
  const bytes = chunk as Uint8Array;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function callbackOf(rest: Rest): (() => void) | undefined {
  return rest.find((each) => typeof each === 'function');
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', onDrain).off('close', done);
      resolve();
    };
    // The same event makes the writer of the response continue.
    const onDrain = (): void => {
      if (!res.writableNeedDrain) done();
    };
    res.on('drain', onDrain).on('close', done);
  });
}

/** Resets the connection of an incomplete body without framing: its regular end would indicate a complete body. */
function resetUnframed({ socket, chunkedEncoding }: ServerResponse): void {
  if (!chunkedEncoding && socket && !('encrypted' in socket) && !socket.destroyed) socket.resetAndDestroy();
}

function headersSent(): Error {
  const error = new Error('Cannot write headers after they are sent to the client');
  return Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' });
}
