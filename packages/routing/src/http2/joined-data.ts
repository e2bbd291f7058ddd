import { acquireBuffer, copyOf, LARGE, recycleBuffer } from '../http1/spare-buffers.ts';

/** Minimum length of data to which the next frame is joined. Shorter data is passed on frame by frame. */
const MIN_BYTES = 4096;

/** Data of successive frames of a stream, joined because larger parts cost less: in the buffer that it was read into, or in its own. */
export class JoinedData<Stream> {
  readonly stream: Stream;
  #buffer: Buffer;
  #start: number;
  #end: number;
  /** True if the data is in its own buffer. */
  #isCopy = false;

  constructor(stream: Stream, buffer: Buffer, start: number, end: number) {
    this.stream = stream;
    this.#buffer = buffer;
    this.#start = start;
    this.#end = end;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Returns true if data of this length can be joined. */
  accepts(length: number): boolean {
    return this.isWorthJoining && this.length + length <= 2 * LARGE;
  }

  get isWorthJoining(): boolean {
    return this.length >= MIN_BYTES;
  }

  /** Adds data that follows in the same buffer, by moving it over the head of its frame. */
  move(start: number, end: number): void {
    this.#buffer.copyWithin(this.#end, start, end);
    this.#end += end - start;
  }

  /** Adds data from another buffer, in a copy. */
  copy(buffer: Buffer, start: number, end: number): void {
    this.keep();
    this.#end += buffer.copy(this.#buffer, this.#end, start, end);
  }

  /** Copies the data, because the buffer that it was read into is about to be reused. */
  keep(): void {
    if (this.#isCopy) return;
    const copy = acquireBuffer();
    const length = this.#buffer.copy(copy, 0, this.#start, this.#end);
    this.#isCopy = true;
    this.#buffer = copy;
    this.#start = 0;
    this.#end = length;
  }

  /** Returns the data; `keep` returns what is still in the buffer that it was read into. */
  read(keep: (buffer: Buffer, start: number, end: number) => Buffer): Buffer {
    if (!this.#isCopy) return keep(this.#buffer, this.#start, this.#end);
    if (this.length >= LARGE) return this.#buffer.subarray(0, this.#end);
    // Data that waits for its reader should not need much more memory than its length.
    const copy = copyOf(this.#buffer, 0, this.#end);
    recycleBuffer(this.#buffer);
    return copy;
  }

  /** Discards the data. */
  drop(): void {
    if (this.#isCopy) recycleBuffer(this.#buffer);
  }
}
