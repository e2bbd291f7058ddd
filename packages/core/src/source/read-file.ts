import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds to wait for the writer of a named pipe. */
const WRITER_WAIT_MS = 5_000;
const POLL_MS = 10;
const CHUNK_BYTES = 65_536;

/** A file that can be opened, but is not read. */
export class UnusableFile extends Error {
  /** Its size in bytes if it is too large. */
  readonly size: number | undefined;

  constructor(message: string, size?: number) {
    super(message);
    this.size = size;
  }
}

/**
 * Reads a regular file of at most `maxBytes`. The opened file is checked, so that a pipe in its place cannot block. Throws
 * {@link UnusableFile} if it is something else or too large, and errors of the file system. `flags` are added to those of `open`; `check` may throw as well.
 */
export function readRegularFile(path: string, maxBytes: number, flags = 0, check?: (stat: Stats) => void): Buffer {
  const file = open(path, flags);
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new UnusableFile('is a directory');
    if (!stat.isFile()) throw new UnusableFile(stat.isFIFO() ? 'is a named pipe' : 'is a device');
    if (stat.size > maxBytes) throw new UnusableFile(`is larger than ${sizeText(maxBytes)}`, stat.size);
    check?.(stat);
    return readOpened(file, stat.size);
  } finally {
    closeSync(file);
  }
}

/** Reads a file whose size is known, with fewer system calls than `readFileSync`: directories contain thousands of small files. */
function readOpened(file: number, size: number): Buffer {
  // Virtual files of the kernel report no size.
  if (size === 0) return readFileSync(file);
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  while (length < size) {
    const read = readSync(file, bytes, length, size - length, null);
    if (read === 0) break;
    length += read;
  }
  return length < size ? bytes.subarray(0, length) : bytes;
}

/**
 * Reads a file or, without blocking, everything that is written into a pipe. Throws {@link UnusableFile} if nothing is
 * written into a pipe within 5 s.
 */
export async function readFileOrPipe(path: string, maxBytes: number): Promise<Buffer> {
  const file = open(path);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() && !stat.isDirectory()) return await readPipe(file, maxBytes);
  } finally {
    closeSync(file);
  }
  return readRegularFile(path, maxBytes);
}

function open(path: string, flags = 0): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  } catch (error) {
    // A socket cannot be opened.
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') throw new UnusableFile('is a socket');
    throw error;
  }
}

async function readPipe(file: number, maxBytes: number): Promise<Buffer> {
  const giveUpAt = performance.now() + WRITER_WAIT_MS;
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = readAvailable(file);
    size += chunk?.length ?? 0;
    if (size > maxBytes) throw new UnusableFile(`is larger than ${sizeText(maxBytes)}`, size);
    // Without a writer a pipe is at its end; it may not have been opened yet.
    if (chunk?.length === 0 && chunks.length > 0) return Buffer.concat(chunks);
    if (chunk?.length === 0 && performance.now() > giveUpAt) throw new UnusableFile('is a pipe without a writer');
    if (chunk && chunk.length > 0) chunks.push(chunk);
    else await delay(POLL_MS);
  }
}

/** Returns an empty buffer at the end, and `undefined` if nothing is written yet. */
function readAvailable(file: number): Buffer | undefined {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  try {
    return chunk.subarray(0, readSync(file, chunk));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

function sizeText(bytes: number): string {
  return bytes % 1_048_576 === 0 ? `${bytes / 1_048_576} MiB` : `${bytes} bytes`;
}
