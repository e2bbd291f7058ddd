import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import type { Transform } from 'node:stream';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
};

/** Maximum number of encodings of one body: each has buffers of its own. */
const MAX_ENCODINGS = 4;

/** A change of the chunks of a body. */
export type ChangeChunks = (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;

/** Returns what decodes a body with this `Content-Encoding`; `undefined` if an encoding is unknown, or if there are more than four. */
export function decoderOf(contentEncoding: string): ChangeChunks | undefined {
  const encodings = contentEncoding.split(',').map((encoding) => encoding.trim().toLowerCase());
  const decoders = encodings.filter((encoding) => encoding !== 'identity' && encoding !== '').toReversed();
  if (decoders.length > MAX_ENCODINGS) return undefined;
  if (decoders.some((encoding) => !Object.hasOwn(DECODERS, encoding))) return undefined;
  return (chunks) => decoders.reduce((body, encoding) => through(body, DECODERS[encoding]!()), chunks);
}

/** Passes a body through a transform, with back-pressure. */
export async function* through(chunks: AsyncIterable<Buffer>, transform: Transform): AsyncGenerator<Buffer> {
  const source = Readable.from(chunks, { objectMode: false });
  source.on('error', (error) => transform.destroy(error));
  source.pipe(transform);
  try {
    yield* transform as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
    transform.destroy();
  }
}
