const SIZE = 64 * 1024;
/** From here on handing a buffer over is cheaper than copying out of it. */
const LARGE = 32 * 1024;
const MAX_SPARE = 32;

const spare: Buffer[] = [];

const allocate = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(SIZE);

/**
 * One for all connections: what is read is used or copied before anything else is read. Where reads are begun before
 * there is something to read, as on Windows, each connection needs its own.
 */
const SHARED = process.platform === 'win32' ? undefined : allocate();

/** Where a connection reads into. Takes no memory of its own but while a large body comes. */
export class ReadBuffer {
  #current = SHARED ?? allocate();

  get current(): Buffer {
    return this.#current;
  }

  /** What stands from `start` to `end` of a buffer that was just read into, to keep: a copy, or the only view of that buffer. */
  take(buffer: Buffer, start: number, end: number): Buffer {
    const large = end - start >= LARGE;
    if (large && buffer === this.#current) {
      this.#current = allocate();
      if (buffer !== SHARED) return buffer.subarray(start, end);
    }
    const taken = Buffer.allocUnsafe(end - start);
    buffer.copy(taken, 0, start, end);
    return taken;
  }

  reset(): void {
    if (SHARED) this.#current = SHARED;
  }
}

/** Whether what was taken is the view of a whole buffer, which is worth giving back. */
export function isReusable(taken: Buffer): boolean {
  return taken.length >= LARGE && taken.buffer.byteLength === SIZE;
}

export function reuse(taken: Buffer): void {
  if (spare.length < MAX_SPARE) spare.push(Buffer.from(taken.buffer as ArrayBuffer));
}
