/** Longest head of a frame: two bytes, a length of eight, and a mask of four (RFC 6455 §5.2). */
const MAX_HEAD_BYTES = 14;

/** Follows a stream of WebSocket frames to know where one ends. Payloads are not looked at, so extensions do not matter. */
export class FrameCursor {
  readonly #head = Buffer.alloc(MAX_HEAD_BYTES);
  #headBytes = 0;
  /** Bytes of the payload of the current frame that are still to come. */
  #payloadLeft = 0;

  /** True at the start of the stream and after the last byte of a frame. */
  get isBetweenFrames(): boolean {
    return this.#headBytes === 0 && this.#payloadLeft === 0;
  }

  /** Moves over a chunk. */
  follow(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) at = this.#step(chunk, at);
  }

  /** Moves to the next end of a frame in a chunk, or over all of it, and returns the number of bytes up to there. */
  finishFrame(chunk: Uint8Array): number {
    let at = 0;
    while (at < chunk.length && !this.isBetweenFrames) at = this.#step(chunk, at);
    return at;
  }

  /** Moves over one byte of a head, or over payload as far as the chunk has it. */
  #step(chunk: Uint8Array, at: number): number {
    if (this.#payloadLeft > 0) {
      const bytes = Math.min(this.#payloadLeft, chunk.length - at);
      this.#payloadLeft -= bytes;
      return at + bytes;
    }
    this.#head[this.#headBytes++] = chunk[at]!;
    if (this.#headBytes >= 2 && this.#headBytes === headBytesOf(this.#head)) {
      this.#payloadLeft = payloadBytesOf(this.#head);
      this.#headBytes = 0;
    }
    return at + 1;
  }
}

const LENGTH_IN_2_BYTES = 126;
const LENGTH_IN_8_BYTES = 127;

function headBytesOf(head: Buffer): number {
  const second = head[1]!;
  const length = second & 0x7f;
  const extended = length === LENGTH_IN_8_BYTES ? 8 : length === LENGTH_IN_2_BYTES ? 2 : 0;
  return 2 + extended + (second & 0x80 ? 4 : 0);
}

function payloadBytesOf(head: Buffer): number {
  const length = head[1]! & 0x7f;
  if (length === LENGTH_IN_2_BYTES) return head.readUInt16BE(2);
  return length === LENGTH_IN_8_BYTES ? Number(head.readBigUInt64BE(2)) : length;
}
