import { ServerResponse } from 'node:http';
import { acquireBuffer, copyOf, LARGE, recycleBuffer } from './spare-buffers.ts';

/**
 * One buffer for all connections: its data is used or copied before the next read. On Windows, reads begin before data
 * is available, so each connection needs its own.
 */
const SHARED = process.platform === 'win32' ? undefined : acquireBuffer();

/** The buffer that a connection reads into. It uses memory of its own only while a large body is received. */
export class ReadBuffer {
  #current = SHARED ?? acquireBuffer();

  get current(): Buffer {
    return this.#current;
  }

  /** Returns data of a buffer that was just read into, so that it can be kept: a copy, or the only view of that buffer. */
  keep(buffer: Buffer, start: number, end: number): Buffer {
    if (end - start >= LARGE && buffer === this.#current) {
      this.#current = acquireBuffer();
      if (buffer !== SHARED) return buffer.subarray(start, end);
    }
    return copyOf(buffer, start, end);
  }

  /** True if data in this buffer can stay there until it is used: then {@link detachBuffer} is called before the next read. */
  owns(buffer: Buffer): boolean {
    return buffer === this.#current && buffer !== SHARED;
  }

  /** Replaces the buffer, whose data is used later. */
  detachBuffer(): void {
    this.#current = acquireBuffer();
  }

  /**
   * Releases memory of its own: its data is no longer needed. Called while a read is handled, or when the socket is destroyed: at other times,
   * the next read still goes into this buffer, which another connection may use by then.
   */
  reset(): void {
    if (!SHARED || this.#current === SHARED) return;
    recycleBuffer(this.#current);
    this.#current = SHARED;
  }
}

/** `write` functions of responses that do not keep a chunk after their callback. */
const releasing = new Set<unknown>([ServerResponse.prototype.write]);

/** Registers a `write` function that does not keep a chunk after its callback. */
export function registerReleasingWrite(write: unknown): void {
  releasing.add(write);
}

/** Returns true if a chunk can be reused after it is sent. Middleware that replaced `write` may keep it. */
export const releasesChunks = ({ write }: ServerResponse): boolean => releasing.has(write);
