const SIZE = 64 * 1024;
/** From here on handing a buffer over is cheaper than copying out of it. */
const LARGE = 32 * 1024;

const allocate = (): Buffer => Buffer.allocUnsafeSlow(SIZE);

/**
 * One for all connections: what is read is used or copied before anything else is read. Where reads are begun before
 * there is something to read, as on Windows, each connection needs its own.
 */
const SHARED = process.platform === 'win32' ? undefined : allocate();

/** Where a connection reads into. Takes no memory of its own but while a large body comes. */
export class ReadBuffer {
  #current = SHARED ?? allocate();

  /** The buffer of the next read. */
  get current(): Buffer {
    return this.#current;
  }

  /** What stands from `start` to `end` of a buffer that was just read into, to keep. */
  take(buffer: Buffer, start: number, end: number): Buffer {
    const large = end - start >= LARGE;
    if (buffer === SHARED) {
      if (large) this.#current = allocate();
      return Buffer.from(buffer.subarray(start, end));
    }
    if (buffer === this.#current) {
      if (!large) return Buffer.from(buffer.subarray(start, end));
      this.#current = allocate();
    }
    return buffer.subarray(start, end);
  }

  /** A body is over. */
  reset(): void {
    if (SHARED) this.#current = SHARED;
  }
}
