import type { IncomingMessage } from 'node:http';
import { bodyFilterOf, factsOf, restoreBody, type GatewayError } from '@edge-gateway/core';
import { ERROR_CODES, routingError } from '../error-codes.ts';
import { hasBody } from '../http1/request-body.ts';

/**
 * Returns the body to send instead of the one that a parser has consumed, or `undefined` if the stream still contains it.
 * A `Buffer` in `req.rawBody` or `req.body` is sent unchanged; text, JSON and urlencoded bodies are serialized again by their
 * content type. Throws `ERR_ROUTING_BODY_CONSUMED` if the body cannot be restored: a consumed multipart or
 * unknown body, a content encoding that the parser decoded, a charset other than UTF-8, a stream read by other code.
 */
export function parsedBody(req: IncomingMessage): Buffer | undefined {
  if (!hasBody(req) || (!req.readableDidRead && !req.readableEnded)) return undefined;
  if (isPutBack(req)) return undefined;
  const encoding = req.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw consumed(`its content-encoding ${encoding} was undone`);
  const restored = restoreBody(req);
  if (!restored.bytes) throw consumed(restored.reason);
  if (restored.isVerbatim) return restored.bytes;
  const charset = charsetOf(req.headers['content-type']);
  if (charset !== 'utf-8' && charset !== 'us-ascii') throw consumed(`its charset ${charset} was decoded`);
  return restored.bytes;
}

/** Returns true if a concern read the body and put it back. An empty body cannot be put back. */
function isPutBack(req: IncomingMessage): boolean {
  if (bodyFilterOf(req)) return true;
  const read = factsOf(req).body;
  return read !== undefined && (!req.readableEnded || (read.whole && read.bytes.length === 0));
}

function charsetOf(contentType = ''): string {
  const [, ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  return charset?.slice('charset='.length).replaceAll('"', '').trim() ?? 'utf-8';
}

function consumed(reason: string): GatewayError {
  const code = 'ERR_ROUTING_BODY_CONSUMED';
  const advice =
    'Mount forwardTo before the body parser, or keep the bytes: express.json({ verify: (req, res, bytes) => { req.rawBody = bytes; } }).';
  return routingError(code, `${ERROR_CODES[code].message}: ${reason}. ${advice}`);
}
