import type { IncomingMessage } from 'node:http';
import { RequestBody, type BodySink } from './request-body.ts';

/** Bytes that all bodies of the process may keep together: beyond that, further ones are not sent again. */
export const MAX_KEPT_BYTES = 128 * 1024 * 1024;
let keptBytes = 0;

/** A body that is kept while it streams, up to a limit, so that it can be sent again from its start. */
export class ReplayableBody extends RequestBody implements BodySink {
  readonly #limit: number;
  #chunks: Buffer[] | undefined = [];
  #kept = 0;
  #target: BodySink | undefined;
  #started = false;
  #paused = false;
  #error: Error | undefined;

  constructor(req: IncomingMessage, onProgress: () => void, limit: number) {
    super(req, onProgress);
    this.#limit = limit;
  }

  /** False once more bytes were received than may be kept, or after {@link forget}. */
  get replayable(): boolean {
    return this.#chunks !== undefined;
  }

  /** Sends the body from its start to `sink`. */
  override start(sink: BodySink): void {
    this.#target = sink;
    this.#paused = false;
    if (!this.#started) {
      this.#started = true;
      super.start(this);
      return;
    }
    for (const chunk of this.#chunks ?? []) sink.onChunk(chunk);
    if (this.#error) sink.onBodyError(this.#error);
    else if (this.ended) sink.onBodyEnd();
    else if (!this.#paused) super.resume();
  }

  /** Stops sending until the next `start`. */
  detach(): void {
    this.#target = undefined;
    if (this.#started) super.pause();
  }

  /** Keeps nothing from now on: the body is not sent again. */
  forget(): void {
    this.#chunks = undefined;
    keptBytes -= this.#kept;
    this.#kept = 0;
  }

  override release(): void {
    this.forget();
    super.release();
  }

  override pause(): void {
    this.#paused = true;
    super.pause();
  }

  override resume(): void {
    this.#paused = false;
    super.resume();
  }

  onChunk(chunk: Buffer, isOwned = false): void {
    if (this.#chunks) this.#keep(this.#chunks, chunk);
    this.#target?.onChunk(chunk, isOwned && this.#chunks === undefined);
  }

  /** The rest of the body will not arrive, so it is not sent again. */
  onBodyError(error: Error): void {
    this.#error = error;
    this.forget();
    this.#target?.onBodyError(error);
  }

  onBodyEnd(): void {
    this.#target?.onBodyEnd();
  }

  #keep(chunks: Buffer[], chunk: Buffer): void {
    const { length } = chunk;
    if (this.#kept + length > this.#limit || keptBytes + length > MAX_KEPT_BYTES) return this.forget();
    this.#kept += length;
    keptBytes += length;
    chunks.push(chunk);
  }
}
