import type { IncomingMessage } from 'node:http';
import {
  factsOf,
  filterRequestBody,
  grpcTypeOf,
  type FilteredHead,
  type GrpcType,
  type Handler,
  type ResponseFilter,
} from '@edge-gateway/core';
import { routingError } from '../error-codes.ts';
import { findHeader, removeHeader, setHeader } from '../http1/flat-headers.ts';
import { trailerLines } from '../http1/trailers.ts';
import type { Plan } from '../route/compile/route.ts';

/** Flag of the frame with the trailers. */
const TRAILERS = 0x80;
/** Characters of base64 that encode three bytes. */
const GROUP = 4;
const GROUPS = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*$/;
/** Matches the end of separately padded parts. */
const PARTS = /[^=]+=*/g;
/** gRPC-Web clients cannot decompress messages. */
const ENCODINGS = 'identity';

/** A request of gRPC-Web while it is served. */
interface WebRequest {
  /** True if the response is base64. */
  readonly isText: boolean;
}

const requests = new WeakMap<IncomingMessage, WebRequest>();

/** Adds the translation of gRPC-Web to the steps of a request. */
export function withGrpcWeb(plan: Plan): Plan {
  return { ...plan, chain: [...plan.chain, grpcWeb], filters: [...(plan.filters ?? []), grpcWeb] };
}

/** Translates a gRPC-Web request to gRPC, and its response back. */
const grpcWeb: Handler = function grpcWeb(req, _res, next) {
  const facts = factsOf(req);
  const type = grpcTypeOf(facts.header('content-type') ?? '');
  if (!type || type.kind === 'grpc') return next();
  const accepted = grpcTypeOf(facts.header('accept') ?? '') ?? type;
  facts.readsTrailers = true;
  requests.set(req, { isText: accepted.kind === 'webText' });
  facts.requestChanges.push(
    { op: 'set', name: 'content-type', value: `application/grpc${type.format}` },
    { op: 'set', name: 'grpc-accept-encoding', value: ENCODINGS },
  );
  if (type.kind === 'webText') filterRequestBody(req, decoded);
  next();
};
grpcWeb.filterResponse = (req) => {
  const request = requests.get(req);
  return request && responseFilter(request);
};

function responseFilter({ isText }: WebRequest): ResponseFilter {
  return {
    onHead(head) {
      const type = grpcTypeOf(findHeader(head.headers, 'content-type') ?? '');
      if (type?.kind !== 'grpc') return undefined;
      const headers = [...head.headers];
      setHeader(headers, 'content-type', webType(type, isText));
      removeHeader(headers, 'trailer');
      head.headers = headers;
      // A status without messages stays in the headers, which clients also check.
      if (head.isLocalReply || !head.hasBody) return undefined;
      return { stream: (chunks) => encoded(chunks, head, isText) };
    },
    // They are in the body.
    onTrailers: () => [],
  };
}

function webType({ format }: GrpcType, isText: boolean): string {
  return `application/grpc-web${isText ? '-text' : ''}${format === '' ? '+proto' : format}`;
}

/** Decodes base64 in chunks of any size, including separately padded parts. Throws `ERR_ROUTING_GRPC_WEB` if it is malformed. */
async function* decoded(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let rest = '';
  for await (const chunk of chunks) {
    const text = rest + chunk.toString('latin1');
    const end = text.length - (text.length % GROUP);
    rest = text.slice(end);
    const groups = text.slice(0, end);
    if (!GROUPS.test(groups)) throw routingError('ERR_ROUTING_GRPC_WEB');
    // One chunk for all parts: a client could pad each byte.
    const parts = Array.from(groups.matchAll(PARTS), ([part]) => decodePart(part));
    if (parts.length > 0) yield Buffer.concat(parts);
  }
  if (rest !== '') throw routingError('ERR_ROUTING_GRPC_WEB');
}

function decodePart(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64');
  // Unused bits must be 0: otherwise the encoding would not be unique.
  if (part.endsWith('=') && bytes.toString('base64') !== part) throw routingError('ERR_ROUTING_GRPC_WEB');
  return bytes;
}

/** Adds the trailers as the last frame. Each part is padded, so that a message is never held back. */
async function* encoded(chunks: AsyncIterable<Buffer>, head: FilteredHead, isText: boolean): AsyncIterable<Buffer> {
  const write = (bytes: Buffer): Buffer => (isText ? Buffer.from(bytes.toString('base64'), 'latin1') : bytes);
  for await (const chunk of chunks) yield write(chunk);
  const { trailers = [] } = head;
  if (trailers.length > 0) yield write(trailerFrame(trailers));
}

function trailerFrame(flat: readonly string[]): Buffer {
  const body = Buffer.from(trailerLines(flat), 'latin1');
  const frame = Buffer.alloc(5 + body.length);
  frame[0] = TRAILERS;
  frame.writeUInt32BE(body.length, 1);
  body.copy(frame, 5);
  return frame;
}
