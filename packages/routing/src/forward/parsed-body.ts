import type { IncomingMessage } from 'node:http';
import { factsOf, GatewayError } from '@edge-gateway/core';
import { ERROR_CODES } from '../error-codes.ts';
import { hasBody } from '../http1/request-body.ts';

/** What a body parser may have left on a request. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

/**
 * Gives the body to send in place of the one that a parser has read already, or `undefined` while the stream still gives it.
 * A `Buffer` in `req.rawBody` or `req.body` is sent as it is; text, JSON and urlencoded bodies are written anew by their
 * content type. Throws `ERR_ROUTING_BODY_CONSUMED` where that cannot give what the client meant: a consumed multipart or
 * unknown body, a content encoding the parser has undone, a charset other than UTF-8, a stream read by somebody else.
 */
export function parsedBody(req: IncomingMessage): Buffer | undefined {
  if (!hasBody(req) || (!req.readableDidRead && !req.readableEnded)) return undefined;
  if (isPutBack(req)) return undefined;
  const { body, rawBody } = req as ParsedRequest;
  const encoding = req.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw consumed(`its content-encoding ${encoding} was undone`);
  if (Buffer.isBuffer(rawBody)) return rawBody;
  if (Buffer.isBuffer(body)) return body;
  if (body === undefined) throw consumed('nothing was left in req.body');
  const { type, charset } = mediaType(req.headers['content-type']);
  if (charset !== 'utf-8' && charset !== 'us-ascii') throw consumed(`its charset ${charset} was decoded`);
  return Buffer.from(written(req, body, type));
}

/** What a concern read it has noted and put back; of an empty body there is nothing to put back. */
function isPutBack(req: IncomingMessage): boolean {
  const read = factsOf(req).body;
  return read !== undefined && (!req.readableEnded || (read.whole && read.bytes.length === 0));
}

function written(req: IncomingMessage, body: unknown, type: string): string {
  if (type === 'application/json' || type.endsWith('+json')) return json(req, body);
  if (typeof body === 'string') return body;
  if (type === 'application/x-www-form-urlencoded' && isRecord(body)) return form(body);
  throw consumed(`there is no way to write ${type || 'a body without content type'} again`);
}

function json(req: IncomingMessage, body: unknown): string {
  const text = JSON.stringify(body) as string | undefined;
  if (text === undefined) throw consumed('req.body is nothing that JSON can say');
  if (typeof body !== 'string') return text;
  // A string is either the text of the body or a JSON string that was parsed: only its length can tell.
  const length = Number(req.headers['content-length']);
  if (Buffer.byteLength(body) === length) return body;
  if (Buffer.byteLength(text) === length) return text;
  throw consumed('req.body is a string that may or may not be parsed');
}

/** Names nest in brackets as the parsers of Express read them: `a[b]=c`; several plain values repeat the name. */
function form(body: Record<string, unknown>): string {
  const pairs: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (Array.isArray(value) && value.length > 1 && value.every((each) => typeof each !== 'object')) {
      for (const each of value) add(name, each);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner);
    } else {
      pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value ?? ''))}`);
    }
  };
  for (const [name, value] of Object.entries(body)) add(name, value);
  return pairs.join('&');
}

function mediaType(header: string | undefined): { type: string; charset: string } {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  return { type: type.trim(), charset: charset?.slice('charset='.length).replaceAll('"', '').trim() ?? 'utf-8' };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function consumed(reason: string): GatewayError {
  const code = 'ERR_ROUTING_BODY_CONSUMED';
  const { message, status } = ERROR_CODES[code];
  const advice =
    'Mount forwardTo before the body parser, or keep the bytes: express.json({ verify: (req, res, bytes) => { req.rawBody = bytes; } }).';
  return new GatewayError(`${message}: ${reason}. ${advice}`, { code, status });
}
