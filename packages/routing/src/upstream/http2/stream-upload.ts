import type { OutgoingHttpHeaders } from 'node:http2';
import type { BodySink, RequestBody } from '../../http1/request-body.ts';
import { freeWhenSent } from '../../http1/spare-buffers.ts';
import type { UploadStream } from './client-connection.ts';

/** Writes the body of a request to its stream, with back-pressure. */
export class StreamUpload implements BodySink {
  readonly #stream: UploadStream;
  readonly #body: RequestBody;
  readonly #onError: (error: Error) => void;
  /** Bytes of the declared length that are missing; `undefined` without one. */
  #left: number | undefined;

  constructor(stream: UploadStream, body: RequestBody, onError: (error: Error) => void) {
    this.#stream = stream;
    this.#body = body;
    this.#onError = onError;
    this.#left = body.length;
  }

  start(): void {
    this.#stream.on('drain', () => this.#body.resume());
    if (this.#body.mayHaveTrailers) this.#stream.once('wantTrailers', () => this.#sendTrailers());
    this.#body.start(this);
  }

  onChunk(chunk: Buffer, isOwned = false): void {
    if (this.#isClosed) return;
    if (this.#left !== undefined) {
      this.#left -= chunk.length;
      if (this.#left < 0) return this.#onError(new Error('the body is longer than its content-length'));
    }
    const stream = this.#stream;
    const more = isOwned ? stream.write(chunk, freeWhenSent(chunk, stream)) : stream.write(chunk);
    if (!more) this.#body.pause();
  }

  onBodyError(error: Error): void {
    this.#onError(error);
  }

  onBodyEnd(): void {
    if (this.#isClosed) return;
    if (this.#left) return this.#onError(new Error('the body is shorter than its content-length'));
    this.#stream.end();
  }

  get #isClosed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  #sendTrailers(): void {
    if (this.#isClosed) return;
    const { trailers } = this.#body;
    const headers: Record<string, string | string[]> = Object.create(null);
    for (let i = 0; i < trailers.length; i += 2) {
      const name = trailers[i]!.toLowerCase();
      const known = headers[name];
      headers[name] = known === undefined ? trailers[i + 1]! : [known, trailers[i + 1]!].flat();
    }
    try {
      this.#stream.sendTrailers(headers as OutgoingHttpHeaders);
    } catch (error) {
      // Called by Node: an exception would crash the process.
      this.#onError(error as Error);
    }
  }
}
