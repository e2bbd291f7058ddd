import type { Http2Stream } from 'node:http2';
import type { Socket } from 'node:net';

type Done = (error?: Error | null) => void;
type Chunks = { chunk: Buffer | string; encoding: BufferEncoding | 'buffer' }[] & { allBuffers?: boolean };

/** The functions of a stream that pass data to its connection. */
interface Writing {
  destroyed: boolean;
  _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void;
  _writev(chunks: Chunks, done: Done): void;
}

/** What a connection may still be sending. */
interface Kept {
  /** What was passed to the system when it was destroyed. */
  readonly bytesWritten: number;
  readonly data: unknown[];
}

const KEPT = Symbol('edge-gateway.kept-writes');
type Carrier = Socket & { [KEPT]?: Kept | undefined };

/**
 * Keeps the data that is written to a stream of `node:http2` in memory while its connection may send it. When a stream is destroyed, Node
 * forgets its data, although the system may still be sending the first part of it: the peer would receive what that memory contains by then.
 */
export function keepWrites(stream: Http2Stream, socket: Socket): void {
  // TLS has encrypted all that it was given.
  if ('encrypted' in socket) return;
  const writing = stream as unknown as Writing;
  const { _write: write, _writev: writev } = writing;
  writing._write = (chunk, encoding, done) => {
    // Also Node keeps a buffer for a string.
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    write.call(writing, bytes, 'buffer' as BufferEncoding, whileSending(writing, socket, bytes, done));
  };
  writing._writev = (chunks, done) => {
    const data = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : chunk,
    );
    const all: Chunks = data.map((chunk) => ({ chunk, encoding: 'buffer' as const }));
    all.allBuffers = true;
    writev.call(writing, all, whileSending(writing, socket, data, done));
  };
}

function whileSending(stream: Writing, socket: Carrier, data: unknown, done: Done): Done {
  const before = socket.bytesWritten;
  return (error) => {
    const { bytesWritten } = socket;
    // Node passes on more only when all before was sent.
    if (stream.destroyed && bytesWritten !== before) {
      if (socket[KEPT]?.bytesWritten !== bytesWritten) socket[KEPT] = { bytesWritten, data: [] };
      socket[KEPT].data.push(data);
    }
    done(error);
  };
}
