import type { IncomingMessage } from 'node:http';
import { bodyFilterOf, GatewayError } from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { ownsChunk } from './owned-chunk.ts';

const NO_TRAILERS: readonly string[] = [];

export { hasBody } from '@edge-gateway/core';

export interface BodySink {
  /** `isOwned` if the memory of the chunk can be released when it is sent, see `release`. */
  onChunk(chunk: Buffer, isOwned?: boolean): void;
  onBodyEnd(): void;
  /** A filter of the body failed. */
  onBodyError(error: Error): void;
}

/** The body of a client's request. */
export class RequestBody {
  bytes = 0;
  ended = false;
  /** Returns the received trailers that are sent after the body. Default: none. */
  filterTrailers: ((raw: readonly string[]) => readonly string[]) | undefined;
  readonly #req: IncomingMessage;
  readonly #onProgress: () => void;
  #sink: BodySink | undefined;
  #released = false;

  constructor(req: IncomingMessage, onProgress: () => void) {
    this.#req = req;
    this.#onProgress = onProgress;
  }

  /** The declared length; `undefined` if the body is sent in chunks: a replaced body with a length too, if trailers follow it. */
  get length(): number | undefined {
    const { headers, httpVersionMajor } = this.#req;
    if (headers['transfer-encoding'] !== undefined || this.trailers.length > 0) return undefined;
    const length = headers['content-length'];
    return length === undefined && httpVersionMajor > 1 ? undefined : Number(length ?? 0);
  }

  /** The trailers that were received and are sent, flat. */
  get trailers(): readonly string[] {
    return this.filterTrailers?.(this.#req.rawTrailers) ?? NO_TRAILERS;
  }

  /** True if trailers may still arrive that are sent. */
  get mayHaveTrailers(): boolean {
    if (this.filterTrailers === undefined) return false;
    return !this.#req.complete || this.trailers.length > 0;
  }

  /** True if only the client delays the body: everything that it has sent was passed on. */
  get isAwaited(): boolean {
    return this.#sink !== undefined && !this.ended && !this.#req.isPaused();
  }

  start(sink: BodySink): void {
    if (this.#released) return;
    this.#sink = sink;
    this.#req.on('data', this.#data).on('end', this.#end);
    const filter = bodyFilterOf(this.#req);
    if (filter?.error) return this.#error(filter.error);
    if (filter) this.#req.on('error', this.#error);
    // A body that was already read does not emit `end` again.
    if (this.#req.readableEnded) process.nextTick(this.#end);
    else this.#req.resume();
  }

  pause(): void {
    if (!this.#released) this.#req.pause();
  }

  resume(): void {
    if (!this.#released) this.#req.resume();
  }

  /** Releases the request. The rest of its body is discarded, so that the connection does not stall. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#req.off('data', this.#data).off('end', this.#end);
    if (bodyFilterOf(this.#req)) this.#req.off('error', this.#error);
    if (!this.ended) this.#req.resume();
  }

  readonly #data = (data: Buffer | string): void => {
    const chunk = typeof data === 'string' ? Buffer.from(data, this.#req.readableEncoding!) : data;
    this.bytes += chunk.length;
    this.#onProgress();
    this.#sink!.onChunk(chunk, ownsChunk(this.#req, chunk, this.#data));
  };

  /** Any error of a filter is one of the gateway: the host has no part in it. */
  readonly #error = (error: Error): void => {
    const isKnown = error instanceof GatewayError;
    this.#sink!.onBodyError(isKnown ? error : routingError('ERR_ROUTING_HANDLER', undefined, { cause: error }));
  };

  readonly #end = (): void => {
    if (this.ended || this.#released) return;
    this.ended = true;
    this.#onProgress();
    this.#sink!.onBodyEnd();
  };
}
