/** The writer is paused at this number of unread bytes. */
const HIGH_WATER_MARK = 64 * 1024;

type Written = (error?: Error | null) => void;

interface Queued {
  readonly chunk: Buffer;
  readonly written: Written | undefined;
}

/** Chunks of a body between a writer and one reader. The reader may stop early: the rest is then discarded. */
export class BodyQueue implements AsyncIterableIterator<Buffer> {
  readonly #onDrain: () => void;
  readonly #queued: Queued[] = [];
  #size = 0;
  #isEnded = false;
  #isFull = false;
  #error: Error | undefined;
  #isDiscarding = false;
  #wake: (() => void) | undefined;

  /** `onDrain` is called when the writer may continue after {@link write} returned false. */
  constructor(onDrain: () => void) {
    this.#onDrain = onDrain;
  }

  /** Adds a chunk. Returns false if the writer should wait. */
  write(chunk: Buffer, written?: Written): boolean {
    if (this.#isDiscarding || this.#isEnded) {
      if (written) process.nextTick(written);
      return true;
    }
    this.#queued.push({ chunk, written });
    this.#size += chunk.length;
    this.#wake?.();
    this.#isFull ||= this.#size >= HIGH_WATER_MARK;
    return !this.#isFull;
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** Makes the reader fail, and drops what it has not read. */
  fail(error: Error): void {
    this.#error ??= error;
    this.discard();
    this.#wake?.();
  }

  /** Drops all chunks, now and later. */
  discard(): void {
    this.#isDiscarding = true;
    for (const { written } of this.#queued.splice(0)) written?.();
    this.#size = 0;
    this.#drained();
  }

  async next(): Promise<IteratorResult<Buffer, undefined>> {
    for (;;) {
      if (this.#error) throw this.#error;
      const first = this.#queued.shift();
      if (first) {
        this.#size -= first.chunk.length;
        first.written?.();
        if (this.#size === 0) this.#drained();
        return { done: false, value: first.chunk };
      }
      if (this.#isEnded || this.#isDiscarding) return { done: true, value: undefined };
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      // oxlint-disable-next-line no-await-in-loop -- waits for the writer
      await promise;
      this.#wake = undefined;
    }
  }

  return(): Promise<IteratorResult<Buffer, undefined>> {
    this.discard();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #drained(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#onDrain();
  }
}
