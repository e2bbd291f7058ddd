/** Size of the buffers that sockets are read into. */
const READ_BYTES = 64 * 1024;
/** From this size on, passing on a whole buffer of a socket is cheaper than copying from it. */
export const LARGE = READ_BYTES / 2;
/** Sizes of the buffers that are reused. */
const SIZES = [16 * 1024, 32 * 1024, READ_BYTES] as const;
/** Shorter data is not worth such a buffer: most of it would stay empty. */
const MIN_BYTES = SIZES[0] / 2;
/** Maximum memory that waits to be reused, for each size. */
const MAX_SPARE_BYTES = 2 * 1024 * 1024;

// Allocating memory outside the heap for each part of a body causes full garbage collections, about one for every 64 MB. The more the heap
// contains, the longer they take.
const spare = new Map<number, Buffer[]>(SIZES.map((size) => [size, []]));
/** The memory of all these buffers: others of the same size may have more than one view. */
const known = new WeakSet<ArrayBufferLike>();

/** Returns a buffer that a socket can be read into. */
export const allocateBuffer = (): Buffer => allocate(READ_BYTES);

/** Returns a copy of the bytes from `start` to `end`. A long one is the only view of a reusable buffer, see {@link reuse}. */
export function copyOf(buffer: Buffer, start: number, end: number): Buffer {
  const length = end - start;
  const size = length < MIN_BYTES ? undefined : SIZES.find((each) => length <= each);
  const copy = size === undefined ? Buffer.allocUnsafe(length) : allocate(size).subarray(0, length);
  buffer.copy(copy, 0, start, end);
  return copy;
}

/** Returns true for a view of at least half of a reusable buffer. */
export function isReusable({ length, buffer }: Buffer): boolean {
  return length >= MIN_BYTES && 2 * length >= buffer.byteLength && known.has(buffer);
}

/** Makes the buffer of a view available again. Its data must no longer be needed. */
export function reuse({ buffer }: Buffer): void {
  releaseBuffer(Buffer.from(buffer as ArrayBuffer));
}

/** Returns true for a chunk whose memory can be released by its owner: it is the only view of it, and large enough. */
export function isReleasable(chunk: Buffer): boolean {
  return chunk.length >= MIN_BYTES && (chunk.length === chunk.buffer.byteLength || isReusable(chunk));
}

/** Releases the memory of a chunk without a garbage collection. Its data must no longer be needed. */
export function release(chunk: Buffer): void {
  if (known.has(chunk.buffer)) reuse(chunk);
  else (chunk.buffer as ArrayBuffer).transfer(0);
}

/** Returns the callback of a write to this stream, which releases the memory of a chunk. */
export function releaseWhenSent(
  chunk: Buffer,
  stream: { readonly destroyed: boolean },
): (error?: Error | null) => void {
  return (error) => {
    // Not every version of Node reports an error for a destroyed stream, of which HTTP/2 may still be sending a part of the chunk.
    if (!error && !stream.destroyed) release(chunk);
  };
}

export function releaseBuffer(buffer: Buffer): void {
  const buffers = spare.get(buffer.length)!;
  if (buffers.length * buffer.length < MAX_SPARE_BYTES) buffers.push(buffer);
}

function allocate(bytes: number): Buffer {
  const used = spare.get(bytes)!.pop();
  if (used) return used;
  const created = Buffer.allocUnsafeSlow(bytes);
  known.add(created.buffer);
  return created;
}
