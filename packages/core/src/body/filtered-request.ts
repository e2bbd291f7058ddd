import type { IncomingMessage } from 'node:http';
import { factsOf } from '../contract/facts.ts';
import { coreError } from '../error-codes.ts';
import { BodyQueue } from './body-queue.ts';
import { removeDescriptions } from './changed-body.ts';
import { hasBody, setFraming } from './request-framing.ts';

/** Changes the chunks of a body. */
export type BodyStream = (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

const FILTER = Symbol('edge-gateway.request-body-filter');
type Filtered = IncomingMessage & { [FILTER]?: FilteredRequestBody };

/** The internal state of a stream: `ended` if nothing can be pushed any more. */
type WithState = IncomingMessage & { readonly _readableState: { ended: boolean } };

/** The body of a request that passes through a filter. */
export class FilteredRequestBody {
  /** True until the last byte of the filter was passed on. */
  isOpen = true;
  /** Why the filter failed. */
  error: Error | undefined;
  readonly #req: IncomingMessage;
  /** Where the result goes: the stream, or a filter that was added later. */
  #push: (chunk: Buffer | null) => boolean;
  readonly #queue: BodyQueue;
  #isFull = false;
  #wake: (() => void) | undefined;

  constructor(req: IncomingMessage, stream: BodyStream, before: FilteredRequestBody | undefined) {
    this.#req = req;
    const read = req._read.bind(req);
    this.#queue = new BodyQueue(() => {
      this.#isFull = false;
      if (!req.destroyed) read(0);
    });
    const isReceived = this.#takeBuffered();
    if (before) {
      this.#push = before.#push;
      before.#push = (chunk) => this.#received(chunk);
    } else {
      this.#push = req.push.bind(req);
      req.push = (chunk: Buffer | null) => this.#received(chunk);
    }
    req._read = (size) => {
      this.#wake?.();
      if (!this.#isFull && !isReceived) read(size);
    };
    req.once('close', () => this.#queue.fail(new Error('the client disconnected')));
    void this.#run(stream);
  }

  /** Moves what the stream has received to the filter. Returns true if that is all. */
  #takeBuffered(): boolean {
    const req = this.#req;
    const { _readableState: state } = req as WithState;
    const { ended } = state;
    // Otherwise the stream would end when it is read.
    state.ended = false;
    while (req.readableLength > 0) this.#queue.write(req.read() as Buffer);
    if (ended) this.#queue.end();
    return ended;
  }

  #received(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#queue.end();
      return true;
    }
    this.#isFull = !this.#queue.write(chunk);
    return !this.#isFull;
  }

  async #run(stream: BodyStream): Promise<void> {
    try {
      for await (const chunk of stream(this.#queue)) {
        if (this.#req.destroyed) return;
        if (chunk.length > 0 && !this.#push(chunk)) await this.#requested();
      }
      this.isOpen = false;
      this.#queue.discard();
      this.#push(null);
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Resolves when the reader wants more. */
  async #requested(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    this.#req.once('close', resolve);
    await promise;
    this.#req.off('close', resolve);
    this.#wake = undefined;
  }

  #fail(error: Error): void {
    const req = this.#req;
    this.error = error;
    this.#queue.discard();
    if (req.destroyed) return;
    // Without a reader the error waits for it.
    if (req.listenerCount('error') > 0) req.emit('error', error);
  }
}

/**
 * Passes the body of a request through `stream`, for later handlers and the destination; it is sent in chunks. Of several
 * filters, the first added one is applied first. Headers of the client that describe the bytes, such as `content-digest`, are removed unless
 * `keepsBytes` is true. Does nothing without a body and trailers. If a filter fails, the response is its error. Throws `ERR_CORE_BODY_CONSUMED` if other
 * middleware has read the body.
 *
 * @example
 * filterRequestBody(req, async function* (chunks) {
 *   for await (const chunk of chunks) yield Buffer.from(chunk.toString('latin1').toUpperCase(), 'latin1');
 * });
 */
export function filterRequestBody(req: IncomingMessage, stream: BodyStream, keepsBytes = false): void {
  // A body may have been replaced by an empty one, and its trailers still be sent.
  if (!hasBody(req) && req.rawTrailers.length === 0) return;
  if (req.readableEnded) throw coreError('ERR_CORE_BODY_CONSUMED');
  const filtered = req as Filtered;
  filtered[FILTER] = new FilteredRequestBody(req, stream, filtered[FILTER]);
  factsOf(req).body = undefined;
  if (!keepsBytes) removeDescriptions(req);
  setFraming(req, 'chunked');
}

/** Returns the last filter of a request body, if there is one. */
export function bodyFilterOf(req: IncomingMessage): Pick<FilteredRequestBody, 'error' | 'isOpen'> | undefined {
  return (req as Filtered)[FILTER];
}
