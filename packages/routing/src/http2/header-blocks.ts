import type { ReceivedFrame } from './frame-reader.ts';
import * as frames from './frame-types.ts';
import { CompressionError, HpackDecoder, type DecodedFields } from './hpack-decoder.ts';
import { connectionError } from './protocol-errors.ts';

/** A block may be this many times as long as the decoded list may be: up to then, a list that is too long ends only its stream. */
const MAX_RATIO = 8;
/** Maximum number of `CONTINUATION` frames of a block; more if its list may be longer than these can contain. */
const MAX_CONTINUATIONS = 16;

/** A complete header block that is not decoded yet. */
export interface HeaderBlock {
  readonly id: number;
  /** The stream ends with it. */
  readonly isLast: boolean;
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Joins the frames of header blocks, and decodes them. */
export class HeaderBlocks {
  readonly #decoder: HpackDecoder;
  readonly #maxBytes: number;
  readonly #maxFrames: number;
  /** Parts of a block that is not complete. */
  #parts: Buffer[] | undefined;
  #bytes = 0;
  #id = 0;
  #isLast = false;

  constructor(maxListBytes: number, maxFields?: number) {
    this.#decoder = new HpackDecoder(maxListBytes, maxFields);
    this.#maxBytes = MAX_RATIO * maxListBytes;
    this.#maxFrames = 1 + Math.max(MAX_CONTINUATIONS, Math.ceil(maxListBytes / frames.DEFAULT_FRAME_BYTES));
  }

  get isWithinBlock(): boolean {
    return this.#parts !== undefined;
  }

  /** Throws while a block is not complete: no other frames may be within it. */
  checkNone(): void {
    if (this.#parts) throw connectionError('PROTOCOL_ERROR', 'a header block is not complete');
  }

  /** Reads a `HEADERS` or `CONTINUATION` frame. Returns the block that it completes. */
  read(frame: ReceivedFrame): HeaderBlock | undefined {
    const { id, buffer } = frame;
    const isComplete = (frame.flags & frames.END_HEADERS) !== 0;
    if (frame.type === frames.HEADERS) {
      const { start, end } = withoutPadding(frame);
      const isLast = (frame.flags & frames.END_STREAM) !== 0;
      if (isComplete) return { id, isLast, buffer, start, end };
      this.#id = id;
      this.#isLast = isLast;
      this.#parts = [Buffer.from(buffer.subarray(start, end))];
      this.#bytes = end - start;
      return undefined;
    }
    return this.#continue(frame, isComplete);
  }

  decode({ buffer, start, end }: HeaderBlock): DecodedFields {
    try {
      return this.#decoder.decode(buffer, start, end);
    } catch (error) {
      if (error instanceof CompressionError) throw connectionError('COMPRESSION_ERROR', error.message);
      throw error;
    }
  }

  #continue({ id, buffer, start, end }: ReceivedFrame, isComplete: boolean): HeaderBlock | undefined {
    const parts = this.#parts;
    if (!parts || id !== this.#id) throw connectionError('PROTOCOL_ERROR', 'a frame continues no header block');
    parts.push(Buffer.from(buffer.subarray(start, end)));
    this.#bytes += end - start;
    if (this.#bytes > this.#maxBytes || parts.length > this.#maxFrames)
      throw connectionError('ENHANCE_YOUR_CALM', 'a header block is too long');
    if (!isComplete) return undefined;
    this.#parts = undefined;
    const block = Buffer.concat(parts);
    return { id, isLast: this.#isLast, buffer: block, start: 0, end: block.length };
  }
}

function withoutPadding({ id, flags, buffer, start, end }: ReceivedFrame): { start: number; end: number } {
  let from = start;
  let to = end;
  if ((flags & frames.PADDED) !== 0) {
    if (from >= to) throw connectionError('FRAME_SIZE_ERROR', 'a padded frame is empty');
    to -= buffer[from++]!;
  }
  if ((flags & frames.HAS_PRIORITY) !== 0) {
    if (from + 5 <= end && (buffer.readUInt32BE(from) & 0x7fffffff) === id)
      throw connectionError('PROTOCOL_ERROR', 'a stream depends on itself');
    from += 5;
  }
  if (from > to) throw connectionError('PROTOCOL_ERROR', 'the padding is longer than its frame');
  return { start: from, end: to };
}
