import { ServerResponse } from 'node:http';

const SIZE = 64 * 1024;
/** From this size on, passing on the whole buffer is cheaper than copying from it. */
const LARGE = 32 * 1024;
const MAX_SPARE = 32;

const spare: Buffer[] = [];

const allocate = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(SIZE);

/**
 * One buffer for all connections: its data is used or copied before the next read. On Windows, reads begin before data
 * is available, so each connection needs its own.
 */
const SHARED = process.platform === 'win32' ? undefined : allocate();

/** The buffer that a connection reads into. It uses memory of its own only while a large body is received. */
export class ReadBuffer {
  #current = SHARED ?? allocate();

  get current(): Buffer {
    return this.#current;
  }

  /** Returns data of a buffer that was just read into, so that it can be kept: a copy, or the only view of that buffer. */
  take(buffer: Buffer, start: number, end: number): Buffer {
    const large = end - start >= LARGE;
    if (large && buffer === this.#current) {
      this.#current = allocate();
      if (buffer !== SHARED) return buffer.subarray(start, end);
    }
    // Allocating memory for each copy would cause full garbage collections.
    const taken = large ? allocate().subarray(0, end - start) : Buffer.allocUnsafe(end - start);
    buffer.copy(taken, 0, start, end);
    return taken;
  }

  /** True if data in this buffer can stay there until it is used: then {@link detachBuffer} is called before the next read. */
  owns(buffer: Buffer): boolean {
    return buffer === this.#current && buffer !== SHARED;
  }

  /** Replaces the buffer, whose data is used later. */
  detachBuffer(): void {
    this.#current = allocate();
  }

  /**
   * Releases memory of its own: its data is no longer needed. Called while a read is handled, or when the socket is destroyed: at other times,
   * the next read still goes into this buffer, which another connection may use by then.
   */
  reset(): void {
    if (!SHARED || this.#current === SHARED) return;
    keepSpare(this.#current);
    this.#current = SHARED;
  }
}

/** Returns true for a view of a whole buffer, which is worth reusing. */
export function isReusable(taken: Buffer): boolean {
  return taken.length >= LARGE && taken.buffer.byteLength === SIZE;
}

/** `write` functions of responses that do not keep a chunk after their callback. */
const releasing = new Set<unknown>([ServerResponse.prototype.write]);

/** Registers a `write` function that does not keep a chunk after its callback. */
export function registerReleasingWrite(write: unknown): void {
  releasing.add(write);
}

/** Returns true if a chunk can be reused after it is sent. Middleware that replaced `write` may keep it. */
export const releasesChunks = ({ write }: ServerResponse): boolean => releasing.has(write);

export function reuse(taken: Buffer): void {
  keepSpare(Buffer.from(taken.buffer as ArrayBuffer));
}

function keepSpare(buffer: Buffer): void {
  if (spare.length < MAX_SPARE) spare.push(buffer);
}
