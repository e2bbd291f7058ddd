import { DATA, DEFAULT_FRAME_BYTES, END_STREAM, FRAME_HEAD_BYTES, PADDED } from './frame-types.ts';
import { connectionError } from './protocol-errors.ts';

/** A frame besides `DATA`, whose payload is the bytes from `start` to `end`. It is valid during the call. */
export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Receives frames. Its methods may throw a `ConnectionError`. */
export interface FrameSink {
  /** A `DATA` frame begins; `bytes` with its padding count for flow control. */
  onDataFrame(id: number, bytes: number): void;
  /** A part of the data of that frame. `isLast` with the end of a frame that ends the stream; the part may then be empty. */
  onData(buffer: Buffer, start: number, end: number, isLast: boolean): void;
  /** The padding of that frame, with the byte of its length. */
  onPadding(bytes: number): void;
  onFrame(frame: ReceivedFrame): void;
}

/** Splits what a connection receives into frames. `DATA` is passed on as it arrives, other frames when they are complete. */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #head = Buffer.alloc(FRAME_HEAD_BYTES);
  /** Received bytes of a head that is incomplete. */
  #headBytes = 0;
  /** Payload of a frame that is incomplete, and its received bytes. */
  #payload: Buffer | undefined;
  #payloadBytes = 0;
  #type = 0;
  #flags = 0;
  #id = 0;
  /** Of a `DATA` frame: what is missing. */
  #isInData = false;
  #dataLeft = 0;
  #paddingLeft = 0;
  #awaitsPadding = false;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** True while a frame besides `DATA` is not complete. */
  get isWithinFrame(): boolean {
    return this.#payload !== undefined || this.#headBytes > 0;
  }

  /** Receives bytes. Throws a `ConnectionError` for those that violate the protocol; nothing may be received after that. */
  read(buffer: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end || this.#isInData) {
      if (this.#isInData) {
        const next = this.#readData(buffer, at, end);
        if (next === at && this.#isInData) return;
        at = next;
      } else if (this.#payload) at = this.#readPayload(this.#payload, buffer, at, end);
      else at = this.#readHead(buffer, at, end);
    }
  }

  #readHead(buffer: Buffer, at: number, end: number): number {
    let head = buffer;
    let headAt = at;
    let next = at + FRAME_HEAD_BYTES;
    if (this.#headBytes > 0 || next > end) {
      const taken = Math.min(end - at, FRAME_HEAD_BYTES - this.#headBytes);
      buffer.copy(this.#head, this.#headBytes, at, at + taken);
      this.#headBytes += taken;
      next = at + taken;
      if (this.#headBytes < FRAME_HEAD_BYTES) return next;
      head = this.#head;
      headAt = 0;
      this.#headBytes = 0;
    }
    const length = (head[headAt]! << 16) | (head[headAt + 1]! << 8) | head[headAt + 2]!;
    if (length > DEFAULT_FRAME_BYTES) throw connectionError('FRAME_SIZE_ERROR', 'a frame is too large');
    const type = head[headAt + 3]!;
    const flags = head[headAt + 4]!;
    const id =
      ((head[headAt + 5]! & 0x7f) << 24) | (head[headAt + 6]! << 16) | (head[headAt + 7]! << 8) | head[headAt + 8]!;
    this.#flags = flags;
    this.#id = id;
    if (type === DATA) this.#beginData(length);
    else if (next + length <= end) {
      this.#sink.onFrame({ type, flags, id, buffer, start: next, end: next + length });
      return next + length;
    } else {
      this.#type = type;
      this.#payload = Buffer.allocUnsafe(length);
      this.#payloadBytes = 0;
    }
    return next;
  }

  #readPayload(payload: Buffer, buffer: Buffer, at: number, end: number): number {
    const taken = Math.min(end - at, payload.length - this.#payloadBytes);
    buffer.copy(payload, this.#payloadBytes, at, at + taken);
    this.#payloadBytes += taken;
    if (this.#payloadBytes === payload.length) {
      this.#payload = undefined;
      const { length } = payload;
      this.#sink.onFrame({
        type: this.#type,
        flags: this.#flags,
        id: this.#id,
        buffer: payload,
        start: 0,
        end: length,
      });
    }
    return at + taken;
  }

  #beginData(length: number): void {
    this.#sink.onDataFrame(this.#id, length);
    this.#isInData = true;
    this.#dataLeft = length;
    this.#paddingLeft = 0;
    this.#awaitsPadding = (this.#flags & PADDED) !== 0;
    if (this.#awaitsPadding && length === 0) throw connectionError('FRAME_SIZE_ERROR', 'a padded frame is empty');
  }

  #readData(buffer: Buffer, start: number, end: number): number {
    let at = start;
    if (this.#awaitsPadding) {
      if (at === end) return at;
      const padding = buffer[at++]!;
      if (padding >= this.#dataLeft) throw connectionError('PROTOCOL_ERROR', 'the padding is longer than its frame');
      this.#awaitsPadding = false;
      this.#paddingLeft = padding;
      this.#dataLeft -= 1 + padding;
      this.#sink.onPadding(1 + padding);
    }
    const dataEnd = Math.min(at + this.#dataLeft, end);
    this.#dataLeft -= dataEnd - at;
    const paddingEnd = Math.min(dataEnd + this.#paddingLeft, end);
    this.#paddingLeft -= paddingEnd - dataEnd;
    const isComplete = this.#dataLeft === 0 && this.#paddingLeft === 0;
    this.#isInData = !isComplete;
    const isLast = isComplete && (this.#flags & END_STREAM) !== 0;
    if (dataEnd > at || isLast) this.#sink.onData(buffer, at, dataEnd, isLast);
    return paddingEnd;
  }
}

export function checkLength({ start, end }: ReceivedFrame, length: number): void {
  if (end - start !== length) throw connectionError('FRAME_SIZE_ERROR', 'a frame has the wrong size');
}
