import { subscribe } from 'node:diagnostics_channel';
import type { Http2Session, Http2Stream } from 'node:http2';

/** Published by Node for each stream that is opened, also for those of gRPC clients and servers. */
const CHANNELS = ['http2.client.stream.created', 'http2.server.stream.created'];

type Done = (error?: Error | null) => void;
type Chunks = { chunk: Buffer | string; encoding: BufferEncoding | 'buffer' }[] & { allBuffers?: boolean };

/** The functions of a stream that pass data to its connection. */
interface Writing extends Pick<Http2Stream, 'destroyed' | 'session'> {
  _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void;
  _writev(chunks: Chunks, done: Done): void;
}

/** What a connection may still be sending. */
interface Kept {
  /** What was passed to the system when it was destroyed. */
  readonly bytesWritten: number;
  readonly data: unknown[];
}

const kept = new WeakMap<Http2Session, Kept>();
/** Sessions whose streams are kept, if not those of the whole process. */
const own = new WeakSet<Http2Session>();
let isSubscribed = false;
let keepsAll = false;

/**
 * Keeps the data that is written to a stream of `node:http2` in memory while its connection may send it. When a stream is destroyed, Node
 * forgets its data, although the system may still be sending the first part of it: the peer would receive what that memory contains by then.
 * Without a session it works for the whole process, also for sessions of others: only for programs, because it replaces functions of their streams.
 */
export function keepHttp2Writes(session?: Http2Session): void {
  if (session) own.add(session);
  else keepsAll = true;
  if (isSubscribed) return;
  isSubscribed = true;
  for (const channel of CHANNELS) subscribe(channel, keepWrites);
}

function keepWrites(message: unknown): void {
  const { stream } = message as { readonly stream: Writing };
  if (!keepsAll && !(stream.session && own.has(stream.session))) return;
  const { _write: write, _writev: writev } = stream;
  stream._write = (chunk, encoding, done) => {
    if (hasCopies(stream)) return write.call(stream, chunk, encoding, done);
    // Node itself keeps a buffer for a string, too.
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    write.call(stream, bytes, 'buffer' as BufferEncoding, whileSending(stream, bytes, done));
  };
  stream._writev = (chunks, done) => {
    if (hasCopies(stream)) return writev.call(stream, chunks, done);
    const data = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : chunk,
    );
    const all: Chunks = data.map((chunk) => ({ chunk, encoding: 'buffer' as const }));
    all.allBuffers = true;
    writev.call(stream, all, whileSending(stream, data, done));
  };
}

/** True if the data need not be kept: TLS has encrypted all that it was given. */
const hasCopies = ({ session }: Writing): boolean => !session || session.destroyed || session.encrypted === true;

function whileSending(stream: Writing, data: unknown, done: Done): Done {
  const session = stream.session!;
  const before = session.socket.bytesWritten;
  return (error) => {
    if (stream.destroyed && !session.destroyed) keep(session, before, data);
    done(error);
  };
}

function keep(session: Http2Session, before: number, data: unknown): void {
  const { bytesWritten } = session.socket;
  // Node passes on more only when everything before it has been sent.
  if (bytesWritten === before) return;
  let known = kept.get(session);
  if (known?.bytesWritten !== bytesWritten) kept.set(session, (known = { bytesWritten, data: [] }));
  known.data.push(data);
}
