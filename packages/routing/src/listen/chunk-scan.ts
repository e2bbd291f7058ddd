/** What a look at the bytes of a chunked body gave. */
export type ChunkProgress = 'more' | 'end' | 'extensionTooLong';

/**
 * Follows a chunked body byte by byte, for the one thing the parser has no limit for: the length of an extension.
 * Gives 'end' at the last chunk or at the first byte that is not a chunk: the parser refuses that by itself.
 */
export interface ChunkScan {
  feed(bytes: Buffer, from: number): ChunkProgress;
}

const CR = 0x0d;
const LF = 0x0a;

/** Starts at the first byte after a request head. */
export function createChunkScan(maxExtensionBytes: number): ChunkScan {
  let extended = 0;
  let size = 0;
  let digits = 0;
  let skip = 0;

  /** Takes one byte of a chunk's size line. */
  function sizeByte(byte: number): ChunkProgress {
    if (byte === LF) return endOfLine();
    if (byte === CR) return 'more';
    const digit = extended === 0 ? hexDigit(byte) : -1;
    if (digit < 0) return ++extended > maxExtensionBytes ? 'extensionTooLong' : 'more';
    digits++;
    size = size * 16 + digit;
    return Number.isSafeInteger(size) ? 'more' : 'end';
  }

  function endOfLine(): ChunkProgress {
    if (digits === 0 || size === 0) return 'end';
    skip = size + 2;
    extended = size = digits = 0;
    return 'more';
  }

  return {
    feed(bytes, from) {
      let at = from;
      while (at < bytes.length) {
        if (skip > 0) {
          const step = Math.min(skip, bytes.length - at);
          skip -= step;
          at += step;
          continue;
        }
        const progress = sizeByte(bytes[at++]!);
        if (progress !== 'more') return progress;
      }
      return 'more';
    },
  };
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Where the head of a request ends in bytes that hold its end: after the blank line behind its last header; -1 if nowhere. */
export function headEnd(bytes: Buffer, lastHeader: string): number {
  const name = `${lastHeader.toLowerCase()}:`;
  for (let at = bytes.indexOf('\r\n\r\n'); at >= 0; at = bytes.indexOf('\r\n\r\n', at + 4)) {
    const before = at === 0 ? -1 : bytes.lastIndexOf('\r\n', at - 1);
    if (before < 0) return at + 4;
    const line = bytes.toString('latin1', before + 2, before + 2 + name.length);
    if (line.toLowerCase() === name) return at + 4;
  }
  return -1;
}
