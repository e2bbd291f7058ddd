import { createServer, type ServerOpts, type Socket } from 'node:net';
import { fields as pairs, FLAG, frame as rawFrame, FRAME, uint32 } from '../../listen/http2/frames.ts';
import { listen, whenDone } from '../../forward/harness.ts';

const PREFACE_LENGTH = 24;

/** Encodes a frame of HTTP/2. */
export const frame = (type: number, flags: number, id: number, payload: Buffer | string = ''): Buffer =>
  rawFrame(type, flags, id, Buffer.from(payload as string, 'latin1'));

/** Encodes fields, flat, as literals that are not indexed. */
export const fields = (flat: readonly string[]): Buffer =>
  pairs(...flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]!] as const] : [])));

/** A head that ends no stream. */
export const head = (id: number, ...flat: readonly string[]): Buffer =>
  frame(FRAME.headers, FLAG.endHeaders, id, fields(flat));
/** A head, or trailers, that end the stream. */
export const lastHead = (id: number, ...flat: readonly string[]): Buffer =>
  frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, fields(flat));
export const data = (id: number, body: string): Buffer => frame(FRAME.data, 0, id, body);
export const lastData = (id: number, body: string): Buffer => frame(FRAME.data, FLAG.endStream, id, body);
export function reset(id: number, code: number): Buffer {
  return frame(FRAME.rstStream, 0, id, uint32(code));
}
export function goaway(lastId: number, code = 0): Buffer {
  return frame(FRAME.goaway, 0, 0, Buffer.concat([uint32(lastId), uint32(code)]));
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
  settings = frame(FRAME.settings, 0, 0),
  options: ServerOpts = {},
): Promise<FrameUpstream> {
  const upstream: FrameUpstream = { port: 0, received: [], sockets: new Set(), connections: 0 };
  const server = createServer(options, (socket) => {
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
        if (next.type === FRAME.settings && (next.flags & 1) === 0 && settings.length > 0)
          socket.write(frame(FRAME.settings, 1, 0));
        if (next.type === FRAME.headers) respond(socket, next.id, upstream);
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
