import type { Socket } from 'node:net';

/** Bytes per check that a client may send besides requests. */
const FREE_BYTES = 64 * 1024;
/** Overhead of a request frame in bytes: frame header, padding, TLS record. */
const FRAME_BYTES = 320;
/** Allowance for window updates, which clients send for received data. */
const SENT_SHARE = 8;
/** The maximum of unread bytes divided by this may arrive per check, for any number of checks. */
const UNREAD_SHARE = 8;

/**
 * Limits the bytes that a client sends besides requests, per check: pings, settings, priorities, window updates, unknown frames. Node
 * handles them without an event, and each costs about as much as a small request.
 */
export class FrameBudget {
  readonly #socket: Socket;
  #read: number;
  #written: number;
  #useful = 0;
  /** Bytes of bodies that may still arrive although they are not read, since the last check and since the one before. */
  #unread = 0;
  #unreadBefore = 0;
  readonly #maxUnread: number;
  /** How many of them are still accepted: Node does not report whether the bytes that arrive belong to a body. */
  #unreadLeft: number;

  /** `maxUnread` is the maximum number of bytes of bodies that may arrive at once although they are not read. */
  constructor(socket: Socket, maxUnread: number) {
    this.#socket = socket;
    this.#maxUnread = this.#unreadLeft = maxUnread;
    this.#read = socket.bytesRead;
    this.#written = socket.bytesWritten;
  }

  /** Counts a frame of a request with this many bytes of content. */
  receive(bytes: number): void {
    this.#useful += bytes + FRAME_BYTES;
  }

  /**
   * Counts what the client may still send on a stream that is reset because its response was sent, until the reset reaches the client. Node
   * drops such frames without an event, so that a client could send others instead: the number of these bytes is limited.
   */
  expectUnread(bytes: number): void {
    this.#unread += bytes;
  }

  /** Returns true if the client has exceeded the limit since the last check. */
  check(): boolean {
    const { bytesRead, bytesWritten } = this.#socket;
    const allowed = FREE_BYTES + this.#useful + (bytesWritten - this.#written) / SENT_SHARE;
    const excess = Math.max(bytesRead - this.#read - allowed, 0);
    const isExceeded = excess > Math.min(this.#unread + this.#unreadBefore, this.#unreadLeft);
    this.#unreadLeft = Math.min(this.#unreadLeft - excess + this.#maxUnread / UNREAD_SHARE, this.#maxUnread);
    this.#read = bytesRead;
    this.#written = bytesWritten;
    this.#useful = 0;
    this.#unreadBefore = this.#unread;
    this.#unread = 0;
    return isExceeded;
  }
}
