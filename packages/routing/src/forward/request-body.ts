import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';

/** Whether a request has a body, by its framing (RFC 9112 6). */
export function hasBody(req: IncomingMessage): boolean {
  const { headers } = req;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/**
 * The body of a client's request as undici reads one: a stream that starts at the first `resume`. undici destroys the
 * stream it was given when it is done with it; here that only lets go of the request, whose connection stays.
 */
export class RequestBody extends EventEmitter {
  bytes = 0;
  ended = false;
  readonly #req: IncomingMessage;
  readonly #onProgress: () => void;
  #started = false;
  #released = false;

  /** `onProgress` is called for each chunk and at the end. */
  constructor(req: IncomingMessage, onProgress: () => void) {
    super();
    this.#req = req;
    this.#onProgress = onProgress;
    // An 'error' that nobody listens to would end the process.
    this.on('error', () => {});
  }

  /** The declared length; `undefined` when the body is chunked. */
  get length(): string | undefined {
    const { headers } = this.#req;
    return headers['transfer-encoding'] === undefined ? headers['content-length'] : undefined;
  }

  /** What undici tells a stream by. */
  pipe(): void {}

  resume(): void {
    if (this.#released) return;
    if (!this.#started) {
      this.#started = true;
      this.#req.on('data', this.#data).on('end', this.#end).on('error', this.#error);
    }
    this.#req.resume();
  }

  pause(): void {
    if (!this.#released) this.#req.pause();
  }

  /** Lets go of the request. What still comes of its body is discarded, so that the connection does not stall. */
  destroy(): void {
    if (this.#released) return;
    this.#released = true;
    this.#req.off('data', this.#data).off('end', this.#end);
    if (!this.ended) this.#req.resume();
  }

  readonly #data = (chunk: Buffer): void => {
    this.bytes += chunk.length;
    this.#onProgress();
    this.emit('data', chunk);
  };

  readonly #end = (): void => {
    this.ended = true;
    this.#onProgress();
    this.emit('end');
  };

  readonly #error = (error: Error): void => {
    if (!this.#released) this.emit('error', error);
  };
}
