import type { IncomingMessage } from 'node:http';
import {
  applyHeaderChanges,
  asMiddleware,
  factsOf,
  httpStat,
  type Concern,
  type Context,
  type CreateMiddleware,
  type FilteredHead,
  type Handler,
  type HeaderChange,
} from '@edge-gateway/core';
import type { Gzip } from '@edge-gateway/core/schema';
import { findHeader } from '../http1/flat-headers.ts';
import { chooseEncoding } from './accept-encoding.ts';
import { through } from './decode.ts';
import { compressorsOf, type CreateCompressor } from './encoding.ts';

/** `gzip` of a listener: compresses responses. */
export const compressConcern: Concern<Gzip> = { name: 'gzip', option: 'gzip', stage: 'fault', compile };

/**
 * Compresses the responses of your own server, by the block that listeners have as `gzip`: those of 30 bytes and more of common text types,
 * unless the block says otherwise. Throws `ERR_CORE_MIDDLEWARE` for invalid options.
 *
 * @example
 * app.use(compress({ contentLength: 1000, encodings: ['zstd', 'br', 'gzip'] }));
 */
export const compress: CreateMiddleware<Gzip> = asMiddleware(compressConcern, 'Gzip');

const DEFAULT_MIN_BYTES = 30;
const DEFAULT_TYPES = [
  'text/html',
  'text/plain',
  'text/css',
  'application/javascript',
  'application/x-javascript',
  'text/javascript',
  'text/x-javascript',
  'text/ecmascript',
  'text/js',
  'text/jscript',
  'text/x-js',
  'application/ecmascript',
  'application/x-json',
  'application/xml',
  'application/json',
  'image/svg+xml',
  'text/xml',
  'application/xhtml+xml',
];
const EVENT_STREAM = 'text/event-stream';

function compile(gzip: Gzip, { metrics }: Context): Handler {
  const compressors = compressorsOf(gzip);
  const minBytes = gzip.contentLength ?? DEFAULT_MIN_BYTES;
  const types = new Set(
    (gzip.contentType?.length ? gzip.contentType : DEFAULT_TYPES).map((type) => type.toLowerCase()),
  );
  const counter = (name: string) => metrics.counter(httpStat(`gzip.${name}`));
  const stats = {
    compressed: counter('compressed'),
    notCompressed: counter('not_compressed'),
    bytesIn: counter('total_uncompressed_bytes'),
    bytesOut: counter('total_compressed_bytes'),
  };

  /** Compresses a response if its client accepts it; `Vary` is added to all that depend on the client. */
  function onHead(head: FilteredHead, accepted: string) {
    if (!isCompressible(head, { minBytes, types, skipsEtags: gzip.disableOnEtagHeader === true })) {
      stats.notCompressed.value++;
      return undefined;
    }
    const encoding = chooseEncoding(accepted, compressors.keys());
    const changes: HeaderChange[] = varyOf(head);
    if (encoding !== undefined) changes.push({ op: 'set', name: 'content-encoding', value: encoding });
    head.headers = applyHeaderChanges(head.headers, changes);
    if (encoding === undefined) {
      stats.notCompressed.value++;
      return undefined;
    }
    if (head.hasBody) stats.compressed.value++;
    else stats.notCompressed.value++;
    const create = compressors.get(encoding)!;
    const flushEach = typeOf(head) === EVENT_STREAM;
    return { stream: (chunks: AsyncIterable<Buffer>) => compressed(chunks, { create, flushEach, stats }) };
  }

  // Later middlewares of a server of one's own, such as dlp, may remove the header from the request.
  const received = new WeakMap<IncomingMessage, string | string[]>();
  const handler: Handler = function gzip(req, _res, next) {
    const accepted = req.headers['accept-encoding'];
    if (accepted !== undefined) received.set(req, accepted);
    if (removesAcceptEncoding) factsOf(req).requestChanges.push({ op: 'remove', name: 'accept-encoding' });
    next();
  };
  const removesAcceptEncoding = gzip.removeAcceptEncodingHeader === true;
  handler.filterResponse = (req) => {
    const accepted = received.get(req) ?? req.headers['accept-encoding'];
    return { onHead: (head) => onHead(head, Array.isArray(accepted) ? accepted.join(',') : (accepted ?? '')) };
  };
  return handler;
}

interface Conditions {
  readonly minBytes: number;
  readonly types: ReadonlySet<string>;
  readonly skipsEtags: boolean;
}

function isCompressible(head: FilteredHead, { minBytes, types, skipsEtags }: Conditions): boolean {
  const { headers, status } = head;
  const value = (name: string): string | undefined => findHeader(headers, name);
  if (status < 200 || status === 204 || status === 206 || status === 304) return false;
  if (value('content-encoding') !== undefined || value('content-range') !== undefined) return false;
  if (/\bno-transform\b/i.test(value('cache-control') ?? '')) return false;
  if (skipsEtags && value('etag') !== undefined) return false;
  if (!types.has(typeOf(head))) return false;
  const length = value('content-length');
  return length === undefined || Number(length) >= minBytes;
}

function typeOf({ headers }: FilteredHead): string {
  const written = findHeader(headers, 'content-type') ?? '';
  return written.split(';', 1)[0]!.trim().toLowerCase();
}

function varyOf({ headers }: FilteredHead): HeaderChange[] {
  const vary = findHeader(headers, 'vary');
  const names = new Set((vary ?? '').split(',').map((name) => name.trim().toLowerCase()));
  if (names.has('accept-encoding') || names.has('*')) return [];
  return [{ op: 'set', name: 'vary', value: vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding' }];
}

interface Compression {
  readonly create: CreateCompressor;
  readonly flushEach: boolean;
  readonly stats: { readonly bytesIn: { value: number }; readonly bytesOut: { value: number } };
}

async function* compressed(
  chunks: AsyncIterable<Buffer>,
  { create, flushEach, stats }: Compression,
): AsyncGenerator<Buffer> {
  for await (const chunk of through(counted(chunks, stats.bytesIn), create(flushEach))) {
    stats.bytesOut.value += chunk.length;
    yield chunk;
  }
}

async function* counted(chunks: AsyncIterable<Buffer>, bytes: { value: number }): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    bytes.value += chunk.length;
    yield chunk;
  }
}
