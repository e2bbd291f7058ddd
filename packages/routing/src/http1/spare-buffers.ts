/** Size of the buffers that sockets are read into. */
const READ_BYTES = 64 * 1024;
/** From this size on, passing on a whole buffer of a socket is cheaper than copying from it. */
export const LARGE = READ_BYTES / 2;
/** Sizes of the buffers in the pool. */
const SIZES = [16 * 1024, 32 * 1024, READ_BYTES] as const;
/** Shorter data is not worth such a buffer: most of it would stay empty. */
const MIN_BYTES = SIZES[0] / 2;
/** Maximum memory in the pool, for each size. */
const MAX_SPARE_BYTES = 2 * 1024 * 1024;

// Allocating memory outside the heap for each part of a body causes full garbage collections, about one for every 64 MB. The more the heap
// contains, the longer they take.
const pool = new Map<number, Buffer[]>(SIZES.map((size) => [size, []]));
/** The memory of all buffers that were ever in it: others of the same size may have more than one view. */
const known = new WeakSet<ArrayBufferLike>();

/** Returns a buffer that a socket can be read into. */
export const acquireBuffer = (): Buffer => allocate(READ_BYTES);

/** Returns a copy of the bytes from `start` to `end`. A long one is the only view of a pooled buffer, see {@link recycleView}. */
export function copyOf(buffer: Buffer, start: number, end: number): Buffer {
  const length = end - start;
  const size = length < MIN_BYTES ? undefined : SIZES.find((each) => length <= each);
  const copy = size === undefined ? Buffer.allocUnsafe(length) : allocate(size).subarray(0, length);
  buffer.copy(copy, 0, start, end);
  return copy;
}

/** Returns true for a view of at least half of a pooled buffer. */
export function isPooledView({ length, buffer }: Buffer): boolean {
  return length >= MIN_BYTES && 2 * length >= buffer.byteLength && known.has(buffer);
}

/** Returns the buffer of a view to the pool. Its data must no longer be needed. */
export function recycleView({ buffer }: Buffer): void {
  recycleBuffer(Buffer.from(buffer as ArrayBuffer));
}

/** Returns true for a chunk whose memory its owner can free: it is the only view of it, and large enough. */
export function isFreeable(chunk: Buffer): boolean {
  return chunk.length >= MIN_BYTES && (chunk.length === chunk.buffer.byteLength || isPooledView(chunk));
}

/** Frees the memory of a chunk without a garbage collection, or returns it to the pool. Its data must no longer be needed. */
export function free(chunk: Buffer): void {
  if (known.has(chunk.buffer)) recycleView(chunk);
  else (chunk.buffer as ArrayBuffer).transfer(0);
}

/** Returns the callback of a write to this stream, which frees the memory of a chunk. */
export function freeWhenSent(chunk: Buffer, stream: { readonly destroyed: boolean }): (error?: Error | null) => void {
  return (error) => {
    // Not every version of Node reports an error for a destroyed stream, of which HTTP/2 may still be sending a part of the chunk.
    if (!error && !stream.destroyed) free(chunk);
  };
}

/** Returns a buffer to the pool. */
export function recycleBuffer(buffer: Buffer): void {
  const buffers = pool.get(buffer.length)!;
  if (buffers.length * buffer.length < MAX_SPARE_BYTES) buffers.push(buffer);
}

function allocate(bytes: number): Buffer {
  const used = pool.get(bytes)!.pop();
  if (used) return used;
  const created = Buffer.allocUnsafeSlow(bytes);
  known.add(created.buffer);
  return created;
}
