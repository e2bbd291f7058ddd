import type { Socket } from 'node:net';
import {
  fields as encodeFields,
  FLAG,
  frame,
  FRAME,
  PREFACE,
  uint32,
} from '../../../packages/routing/test/listen/http2/frames.ts';
import { HpackDecoder, type Field } from '../../../packages/routing/test/listen/http2/hpack.ts';

/** What the peer sends. */
export interface FrameEvents {
  onHeaders(stream: number, fields: readonly Field[], ends: boolean): void;
  onData(stream: number, bytes: Buffer, ends: boolean): void;
  onReset(stream: number, code: number): void;
  onGoaway?(lastStream: number, code: number): void;
  /** The settings of the peer have arrived. */
  onSettings?(): void;
  /** The peer has received everything that was sent before `ping`. */
  onPong?(): void;
}

const MAX_FRAME = 16_384;
/** SETTINGS_INITIAL_WINDOW_SIZE of 2^30. */
const SETTINGS = frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0x40, 0, 0, 0]));
/** The same with SETTINGS_ENABLE_CONNECT_PROTOCOL. */
const SERVER_SETTINGS = frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0x40, 0, 0, 0, 0, 8, 0, 0, 0, 1]));
const WINDOW = frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 30));

/**
 * One side of an HTTP/2 connection that sends any fields, also invalid ones, and tells what it receives as it is. It does not
 * wait for windows.
 */
export class FrameConnection {
  readonly #socket: Socket;
  readonly #events: FrameEvents;
  readonly #decoder = new HpackDecoder();
  #rest: Buffer = Buffer.alloc(0);
  #toSkip: number;
  #block: Buffer[] = [];
  #endsWithBlock = false;

  constructor(socket: Socket, events: FrameEvents, role: 'client' | 'server') {
    this.#socket = socket;
    this.#events = events;
    this.#toSkip = role === 'server' ? PREFACE.length : 0;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    if (role === 'client') this.send(PREFACE, SETTINGS, WINDOW);
    else this.send(SERVER_SETTINGS, WINDOW);
  }

  /** Sends bytes at once. */
  send(...bytes: readonly Buffer[]): void {
    if (this.#socket.writable) this.#socket.write(Buffer.concat(bytes));
  }

  headers(stream: number, list: readonly Field[], ends: boolean): void {
    const block = encodeFields(...list);
    const parts = [];
    for (let at = 0; at === 0 || at < block.length; at += MAX_FRAME) {
      const flags = (at === 0 && ends ? FLAG.endStream : 0) | (at + MAX_FRAME >= block.length ? FLAG.endHeaders : 0);
      const type = at === 0 ? FRAME.headers : FRAME.continuation;
      parts.push(frame(type, flags, stream, block.subarray(at, at + MAX_FRAME)));
    }
    this.send(...parts);
  }

  data(stream: number, text: string, ends: boolean): void {
    const bytes = Buffer.from(text, 'latin1');
    const parts = [];
    for (let at = 0; at === 0 || at < bytes.length; at += MAX_FRAME) {
      const flags = ends && at + MAX_FRAME >= bytes.length ? FLAG.endStream : 0;
      parts.push(frame(FRAME.data, flags, stream, bytes.subarray(at, at + MAX_FRAME)));
    }
    this.send(...parts);
  }

  reset(stream: number, code: number): void {
    this.send(frame(FRAME.rstStream, 0, stream, uint32(code)));
  }

  goaway(lastStream: number, code = 0): void {
    this.send(frame(FRAME.goaway, 0, 0, Buffer.concat([uint32(lastStream), uint32(code)])));
  }

  ping(): void {
    this.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
  }

  #read(chunk: Buffer): void {
    const skipped = Math.min(this.#toSkip, chunk.length);
    this.#toSkip -= skipped;
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(skipped)]);
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) return;
      const [, , , type = 0, flags = 0] = this.#rest;
      const stream = this.#rest.readUInt32BE(5) & 0x7fffffff;
      const payload = this.#rest.subarray(9, end);
      this.#rest = this.#rest.subarray(end);
      this.#receive(type, flags, stream, payload);
    }
  }

  #receive(type: number, flags: number, stream: number, payload: Buffer): void {
    const ends = (flags & FLAG.endStream) !== 0;
    if (type === FRAME.headers) {
      this.#block = [contentOf(payload, flags)];
      this.#endsWithBlock = ends;
    } else if (type === FRAME.continuation) this.#block.push(payload);
    if ((type === FRAME.headers || type === FRAME.continuation) && (flags & FLAG.endHeaders) !== 0)
      return this.#events.onHeaders(stream, this.#decoder.decode(Buffer.concat(this.#block)), this.#endsWithBlock);
    if (type === FRAME.data) {
      const credit = uint32(Math.max(payload.length, 1));
      this.send(frame(FRAME.windowUpdate, 0, 0, credit));
      return this.#events.onData(stream, contentOf(payload, flags), ends);
    }
    if (type === FRAME.rstStream) return this.#events.onReset(stream, payload.readUInt32BE(0));
    if (type === FRAME.goaway) return this.#events.onGoaway?.(payload.readUInt32BE(0), payload.readUInt32BE(4));
    const isAck = (flags & FLAG.ack) !== 0;
    if (type === FRAME.ping && isAck) return this.#events.onPong?.();
    if (type === FRAME.ping) return this.send(frame(FRAME.ping, FLAG.ack, 0, payload));
    if (type === FRAME.settings && !isAck) {
      this.send(frame(FRAME.settings, FLAG.ack, 0));
      this.#events.onSettings?.();
    }
  }
}

/** Returns the payload without padding and priority. */
function contentOf(payload: Buffer, flags: number): Buffer {
  const padding = flags & FLAG.padded ? payload[0]! : 0;
  const start = (flags & FLAG.padded ? 1 : 0) + (flags & FLAG.priority ? 5 : 0);
  return payload.subarray(start, payload.length - padding);
}
