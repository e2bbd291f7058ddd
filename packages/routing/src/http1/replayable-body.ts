import type { IncomingMessage } from 'node:http';
import { RequestBody, type BodySink } from './request-body.ts';

/** A body that is kept while it streams, up to a limit, so that it can be sent again from its start. */
export class ReplayableBody extends RequestBody implements BodySink {
  readonly #limit: number;
  #chunks: Buffer[] | undefined = [];
  #size = 0;
  #target: BodySink | undefined;
  #started = false;
  #paused = false;
  #error: Error | undefined;

  constructor(req: IncomingMessage, onProgress: () => void, limit: number) {
    super(req, onProgress);
    this.#limit = limit;
  }

  /** False once more bytes than the limit were received, or after {@link forget}. */
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
    this.#size += chunk.length;
    if (this.#size > this.#limit) this.#chunks = undefined;
    this.#chunks?.push(chunk);
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
}
