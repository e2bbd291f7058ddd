import type { Socket } from 'node:net';

/** Bytes per check that a client may send besides requests. */
const FREE_BYTES = 64 * 1024;
/** Overhead of a request frame in bytes: frame header, padding, TLS record. */
const FRAME_BYTES = 320;
/** Allowance for window updates, which clients send for received data. */
const SENT_SHARE = 8;

/**
 * Limits the bytes that a client sends besides requests, per check: pings, settings, priorities, window updates, unknown frames. Each
 * costs about as much as a small request.
 */
export class FrameBudget {
  readonly #socket: Socket;
  #read: number;
  #written: number;
  #useful = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#read = socket.bytesRead;
    this.#written = socket.bytesWritten;
  }

  /** Counts a frame of a request with this many bytes of content. */
  receive(bytes: number): void {
    this.#useful += bytes + FRAME_BYTES;
  }

  /** Returns true if the client has exceeded the limit since the last check. */
  check(): boolean {
    const { bytesRead, bytesWritten } = this.#socket;
    const allowed = FREE_BYTES + this.#useful + (bytesWritten - this.#written) / SENT_SHARE;
    const isExceeded = bytesRead - this.#read > allowed;
    this.#read = bytesRead;
    this.#written = bytesWritten;
    this.#useful = 0;
    return isExceeded;
  }
}
