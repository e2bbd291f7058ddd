import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

const DECODERS: Readonly<Record<string, (body: Uint8Array, options: { readonly maxOutputLength: number }) => Buffer>> =
  {
    gzip: gunzipSync,
    'x-gzip': gunzipSync,
    deflate: inflateSync,
    br: brotliDecompressSync,
  };

/** More codings than servers apply. Each decodes up to the maximum size, which costs time. */
const MAX_CODINGS = 4;

/**
 * Decodes a body with the value of its `content-encoding`: servers may compress what was requested with `accept-encoding: identity`.
 * Throws an `Error` for an unknown coding, more than four, an invalid body, or one of more than `maxBytes`.
 *
 * @example
 * decodeContent(response.body, response.headers['content-encoding'], 65_536);
 */
export function decodeContent(body: Buffer, codings: string | undefined, maxBytes: number): Buffer {
  const names = (codings ?? '').toLowerCase().split(',');
  if (names.length > MAX_CODINGS)
    throw new Error(`content-encoding with more than ${MAX_CODINGS} codings is not supported`);
  // The last coding was applied last.
  return names.reduceRight((decoded, written) => {
    const name = written.trim();
    if (name === '' || name === 'identity') return decoded;
    const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
    if (!decode) throw new Error(`content-encoding ${JSON.stringify(name.slice(0, 64))} is not supported`);
    return decode(decoded, { maxOutputLength: maxBytes });
  }, body);
}
