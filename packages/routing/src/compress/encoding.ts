import * as zlib from 'node:zlib';
import { constants, type BrotliOptions, type ZlibOptions, type ZstdOptions } from 'node:zlib';
import type { Transform } from 'node:stream';
import type { Gzip } from '@edge-gateway/core/schema';

/** A content coding that responses are compressed with. */
export type Encoding = NonNullable<Gzip['encodings']>[number];

const LEVELS = { DEFAULT: constants.Z_DEFAULT_COMPRESSION, BEST: 9, SPEED: 1 } as const;
const STRATEGIES = {
  DEFAULT: constants.Z_DEFAULT_STRATEGY,
  FILTERED: constants.Z_FILTERED,
  HUFFMAN: constants.Z_HUFFMAN_ONLY,
  RLE: constants.Z_RLE,
} as const;
/** Quality of Brotli, 0 to 11: its own default is for files. */
const BROTLI_QUALITY = { DEFAULT: 4, BEST: 9, SPEED: 1 } as const;
/** Level of Zstandard, 1 to 22. */
const ZSTD_LEVEL = { DEFAULT: 3, BEST: 15, SPEED: 1 } as const;

/** Creates the compressor of one response. */
export type CreateCompressor = (flushEach: boolean) => Transform;

/** Returns the compressors of a block by encoding, in its order. */
export function compressorsOf(gzip: Gzip): ReadonlyMap<Encoding, CreateCompressor> {
  const { compressionLevel = 'DEFAULT', compressionStrategy = 'DEFAULT', memoryLevel = 5, windowBits = 12 } = gzip;
  const level = LEVELS[compressionLevel];
  const deflate: ZlibOptions = { level, strategy: STRATEGIES[compressionStrategy], memLevel: memoryLevel, windowBits };
  const brotli: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY[compressionLevel] } };
  const zstd: ZstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL[compressionLevel] } };
  const all: Readonly<Record<Encoding, CreateCompressor>> = {
    gzip: (each) => zlib.createGzip(each ? { ...deflate, flush: constants.Z_SYNC_FLUSH } : deflate),
    br: (each) => zlib.createBrotliCompress(each ? { ...brotli, flush: constants.BROTLI_OPERATION_FLUSH } : brotli),
    zstd: (each) => zlib.createZstdCompress(each ? { ...zstd, flush: constants.ZSTD_e_flush } : zstd),
  };
  const encodings = gzip.encodings?.length ? gzip.encodings : ENCODINGS;
  return new Map(encodings.map((encoding) => [encoding, all[encoding]]));
}

const ENCODINGS: readonly Encoding[] = ['gzip', 'br', 'zstd'];
