import { allocateFrames, FRAMES_BYTES, releaseBuffer } from '../http1/spare-buffers.ts';

/** Called when data was written to the socket, or will never be. */
export type Written = (error?: Error | null) => void;

/** Frames in one buffer, for a socket of TLS: it would copy the parts of a write into one anyway, with more effort. */
export class JoinedFrames {
  readonly #buffer = allocateFrames();
  #length = 0;

  /** True if text and data of this length together fit into a buffer. */
  static holds(length: number): boolean {
    return length <= FRAMES_BYTES;
  }

  /** Appends text in latin1 and data. Returns false if there is no room for both. */
  add(text: string, data?: Buffer): boolean {
    if (!JoinedFrames.holds(this.#length + text.length + (data?.length ?? 0))) return false;
    this.#length += this.#buffer.write(text, this.#length, 'latin1');
    if (data) this.#length += data.copy(this.#buffer, this.#length);
    return true;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Returns the callback of their write, which releases the buffer and calls another one. */
  releaseWhenSent(written: Written | undefined): Written {
    return (error) => {
      if (!error) releaseBuffer(this.#buffer);
      written?.(error);
    };
  }
}
