import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { HpackDecoder, type Field } from './hpack.ts';

/** Frame types of RFC 9113 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Frame flags. */
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** Error codes of RFC 9113 7. */
export const CODE = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  refused: 7,
  cancel: 8,
  calm: 11,
} as const;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
  /** Of a received frame that contains a whole header block. */
  readonly fields?: readonly Field[];
}

/** Returns a frame; `length` overrides the length that it declares. */
export function frame(type: number, flags: number, stream: number, payload: Buffer = NONE, length?: number): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length ?? payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const NONE = Buffer.alloc(0);

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** Returns header fields as HPACK literals that are not added to the dynamic table. */
export function fields(...pairs: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(pairs.flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([integer(bytes.length, 7), bytes]);
}

/** Returns an HPACK integer with a prefix of this many bits (RFC 7541 5.1). */
export function integer(value: number, bits: number): Buffer {
  const max = 2 ** bits - 1;
  if (value < max) return Buffer.of(value);
  const bytes = [max];
  let rest = value - max;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

/** The pseudo-header fields of a request, and more fields. */
export const requestFields = (path: string, ...more: readonly (readonly [string, string])[]): Buffer =>
  fields([':method', 'GET'], [':scheme', 'http'], [':path', path], [':authority', 'a'], ...more);

/** A complete request without a body. */
export const requestFrame = (stream: number, path: string, ...more: readonly (readonly [string, string])[]): Buffer =>
  frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, stream, requestFields(path, ...more));

/** A raw connection that speaks HTTP/2 frame by frame. */
export class FrameClient {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  readonly #decoder = new HpackDecoder();
  readonly closed: Promise<void>;
  /** False leaves the settings and pings of the server without acknowledgement. */
  acknowledges = true;
  #rest: Buffer = NONE;

  constructor(port: number, allowHalfOpen = false) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen });
    this.socket.on('error', () => {}).on('data', (chunk: Buffer) => this.#read(chunk));
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
  }

  /** Opens a connection and sends the preface and empty settings. With `allowHalfOpen` it never ends its side. */
  static async open(port: number, allowHalfOpen = false): Promise<FrameClient> {
    const client = new FrameClient(port, allowHalfOpen);
    await once(client.socket, 'connect');
    client.send(PREFACE, frame(FRAME.settings, 0, 0));
    return client;
  }

  send(...bytes: readonly Buffer[]): boolean {
    return this.socket.destroyed || this.socket.write(Buffer.concat(bytes));
  }

  /** Resolves with the first frame, received or to be received, for which `matches` returns true. */
  async until(matches: (each: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(matches);
      if (found) return found;
      if (this.socket.destroyed) throw new Error(`closed; received ${this.summary}`);
      await Promise.race([once(this.socket, 'data').catch(() => {}), this.closed]);
    }
  }

  /** Resolves with the status of the response of a stream. */
  async status(stream: number): Promise<number> {
    const head = await this.until((each) => each.type === FRAME.headers && each.stream === stream);
    return Number(head.fields!.find(([name]) => name === ':status')?.[1]);
  }

  /** Resolves with the code of the reset of a stream. */
  async reset(stream: number): Promise<number> {
    const found = await this.until((each) => each.type === FRAME.rstStream && each.stream === stream);
    return found.payload.readUInt32BE(0);
  }

  /** Resolves with the code of the last GOAWAY, when the connection is closed. */
  async goaway(): Promise<number | undefined> {
    await this.closed;
    return this.frames.findLast(({ type }) => type === FRAME.goaway)?.payload.readUInt32BE(4);
  }

  get summary(): string {
    return JSON.stringify(this.frames.map(({ type, flags, stream, payload }) => [type, flags, stream, payload.length]));
  }

  close(): void {
    this.socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) return;
      const [, , , type = 0, flags = 0] = this.#rest;
      const stream = this.#rest.readUInt32BE(5) & 0x7fffffff;
      const payload = this.#rest.subarray(9, end);
      const isWholeBlock = type === FRAME.headers && (flags & FLAG.endHeaders) !== 0;
      const fields = isWholeBlock ? this.#decoder.decode(payload) : undefined;
      this.frames.push({ type, flags, stream, payload, fields });
      this.#rest = this.#rest.subarray(end);
      if (this.acknowledges && type === FRAME.settings && (flags & FLAG.ack) === 0)
        this.send(frame(FRAME.settings, FLAG.ack, 0));
      if (this.acknowledges && type === FRAME.ping && (flags & FLAG.ack) === 0)
        this.send(frame(FRAME.ping, FLAG.ack, 0, payload));
    }
  }
}
