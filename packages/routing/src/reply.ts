import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from './http1/request-body.ts';
import { lingerOnClose } from './lingering-close.ts';
import { GatewayError, type ErrorReply } from '@edge-gateway/core';
import { hasHeader } from './flat-headers.ts';
import { ERROR_CODES, type RoutingErrorCode } from './error-codes.ts';

/** An answer of the gateway itself. */
export interface LocalReply {
  readonly status: number;
  readonly body: string;
  /** Empty when there is no body to describe. */
  readonly contentType: string;
  /** Flat, beside those that describe the body. */
  readonly headers: readonly string[];
}

const TEXT = 'text/plain';
const JSON_TYPE = 'application/json';

/** An answer with a short text, or none. */
export function textReply(status: number, body: string, headers: readonly string[] = []): LocalReply {
  return { status, body, contentType: body === '' ? '' : TEXT, headers };
}

/** An answer that sends the client elsewhere. */
export function redirectReply(status: number, location: string): LocalReply {
  return { status, body: '', contentType: '', headers: ['location', location] };
}

/** The answer to a request that is refused: a code to look up, and the id to find it in the log. */
export function errorReply(code: RoutingErrorCode, requestId: string): LocalReply {
  const { status, message } = ERROR_CODES[code];
  return jsonReply(status, { code, message, requestId }, []);
}

/**
 * The answer to an error that a concern gave: its own, where it has one. Else only what the client did wrong is
 * explained; nothing shows its cause.
 */
export function replyTo(error: unknown, requestId: string): LocalReply {
  if (!(error instanceof GatewayError)) return errorReply('ERR_ROUTING_HANDLER', requestId);
  const { code, status, reply } = error;
  if (reply) return ownReply(error, reply);
  const message = status < 500 ? error.message : ERROR_CODES.ERR_ROUTING_HANDLER.message;
  return jsonReply(status, { code, message, requestId }, Object.entries(error.headers).flat());
}

function ownReply({ status, headers }: GatewayError, { body }: ErrorReply): LocalReply {
  const { 'content-type': contentType = TEXT, ...others } = headers;
  return { status, body, contentType: body === '' ? '' : contentType, headers: Object.entries(others).flat() };
}

function jsonReply(status: number, body: object, headers: readonly string[]): LocalReply {
  return { status, body: JSON.stringify(body), contentType: JSON_TYPE, headers };
}

/** Headers of a reply with its length. Its type comes last, see {@link describeBody}. */
export function headersOf(reply: LocalReply): string[] {
  const headers = [...reply.headers];
  if (!isBodiless(reply.status)) headers.push('content-length', String(Buffer.byteLength(reply.body)));
  return headers;
}

/** Adds the type of the body, unless the changes of the route have brought one. */
export function describeBody(headers: string[], { contentType, status }: LocalReply): void {
  if (contentType === '' || isBodiless(status) || hasHeader(headers, 'content-type')) return;
  headers.push('content-type', contentType);
}

/** Writes a head. A request whose body nobody reads closes its connection, once the client could read the answer. */
export function writeHead({ req, res }: Exchange, status: number, flat: string[]): void {
  const unread = hasBody(req) && !req.complete;
  res.writeHead(status, unread ? [...flat, 'connection', 'close'] : flat);
  if (unread) lingerOnClose(res);
}

interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Writes a reply and gives the number of body bytes. HEAD and statuses without a body get none.
 */
export function writeReply({ req, res }: Exchange, status: number, flat: string[], body: string): number {
  writeHead({ req, res }, status, flat);
  if (body === '' || req.method === 'HEAD' || isBodiless(status)) {
    res.end();
    return 0;
  }
  res.end(body);
  return Buffer.byteLength(body);
}

/** Statuses whose answers have no body (RFC 9110 §6.4.1). */
function isBodiless(status: number): boolean {
  return status < 200 || status === 204 || status === 304;
}
