import { createServer, type Socket } from 'node:net';
import { listen, whenDone } from '../../forward/harness.ts';

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;
export const END_STREAM = 1;
export const END_HEADERS = 4;

const PREFACE_LENGTH = 24;

/** Encodes a frame of HTTP/2. */
export function frame(type: number, flags: number, id: number, payload: Buffer | string = ''): Buffer {
  const body = Buffer.from(payload as string, 'latin1');
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, body]);
}

/** Encodes fields, flat, as literals that are not indexed. */
export function fields(flat: readonly string[]): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i < flat.length; i += 2) parts.push(Buffer.of(0), text(flat[i]!), text(flat[i + 1]!));
  return Buffer.concat(parts);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  const length: number[] = [];
  if (bytes.length < 127) length.push(bytes.length);
  else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** A head that ends no stream. */
export const head = (id: number, ...flat: readonly string[]): Buffer =>
  frame(TYPE.headers, END_HEADERS, id, fields(flat));
/** A head, or trailers, that end the stream. */
export const lastHead = (id: number, ...flat: readonly string[]): Buffer =>
  frame(TYPE.headers, END_HEADERS | END_STREAM, id, fields(flat));
export const data = (id: number, body: string): Buffer => frame(TYPE.data, 0, id, body);
export const lastData = (id: number, body: string): Buffer => frame(TYPE.data, END_STREAM, id, body);
export function reset(id: number, code: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code);
  return frame(TYPE.reset, 0, id, payload);
}
export function goaway(lastId: number, code = 0): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastId);
  payload.writeUInt32BE(code, 4);
  return frame(TYPE.goaway, 0, 0, payload);
}

/** A frame that was received. */
export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

export interface FrameUpstream {
  readonly port: number;
  readonly received: ReceivedFrame[];
  readonly sockets: Set<Socket>;
  connections: number;
}

/** Starts a server that responds to each head of a request with whatever bytes it is told. Without settings it is silent until then. */
export async function frameUpstream(
  respond: (socket: Socket, id: number, upstream: FrameUpstream) => void,
  settings = frame(TYPE.settings, 0, 0),
): Promise<FrameUpstream> {
  const upstream: FrameUpstream = { port: 0, received: [], sockets: new Set(), connections: 0 };
  const server = createServer((socket) => {
    upstream.connections++;
    upstream.sockets.add(socket);
    socket.setNoDelay(true);
    if (settings.length > 0) socket.write(settings);
    let bytes = Buffer.alloc(0);
    let toSkip = PREFACE_LENGTH;
    socket.on('error', () => {}).on('close', () => upstream.sockets.delete(socket));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      const skipped = Math.min(toSkip, bytes.length);
      toSkip -= skipped;
      bytes = bytes.subarray(skipped);
      while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        const length = bytes.readUIntBE(0, 3);
        const next = {
          type: bytes[3]!,
          flags: bytes[4]!,
          id: bytes.readUInt32BE(5),
          payload: bytes.subarray(9, 9 + length),
        };
        bytes = bytes.subarray(9 + length);
        upstream.received.push(next);
        if (next.type === TYPE.settings && (next.flags & 1) === 0 && settings.length > 0)
          socket.write(frame(TYPE.settings, 1, 0));
        if (next.type === TYPE.headers) respond(socket, next.id, upstream);
      }
    });
  });
  const port = await listen(server);
  whenDone(() => {
    for (const socket of upstream.sockets) socket.destroy();
    server.close();
  });
  return Object.assign(upstream, { port });
}
