import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  errorResponse,
  jsonResponse,
  lingerOnClose,
  withRequestId,
  type ErrorResponse,
  type ReplyBody,
} from '@edge-gateway/core';
import { hasBody } from '../http1/request-body.ts';
import { PlainResponse } from '../listen/http1/plain-response.ts';
import { hasHeader } from '../http1/flat-headers.ts';
import { ERROR_CODES, type RoutingErrorCode } from '../error-codes.ts';

/** A response of the gateway itself. */
export interface LocalReply extends ErrorResponse {
  /** The status for gRPC requests. Default: that for the HTTP status. */
  readonly grpcStatus?: number;
}

const TEXT = 'text/plain';
const UNKNOWN = { code: 'ERR_ROUTING_HANDLER', ...ERROR_CODES.ERR_ROUTING_HANDLER };

/** A response with a short text, or none. */
export function textReply(status: number, body: string, headers: readonly string[] = []): LocalReply {
  return { status, body, contentType: body === '' ? '' : TEXT, headers };
}

/** A failure whose response is a short text, or empty. */
interface Failure {
  readonly code: string;
  readonly status: number;
  /** Default: none. */
  readonly message?: string;
  readonly headers?: readonly string[];
}

/** Returns the response to a failure: a short text or an empty body; browsers receive a page. */
export function failureReply({ code, status, message = '', headers = [] }: Failure, requestId: string): LocalReply {
  return { ...textReply(status, message, withRequestId(headers, requestId)), error: { code, message } };
}

export function redirectReply(status: number, location: string): LocalReply {
  return { status, body: '', contentType: '', headers: ['location', location] };
}

/** The response to a request that is rejected: a code to look up, and the id to find it in the log. */
export function errorReply(code: RoutingErrorCode, requestId: string): LocalReply {
  const { status, message } = ERROR_CODES[code];
  return jsonResponse(status, { code, message, requestId }, []);
}

/** The response to an error of a concern, see `errorResponse` of core. */
export function replyTo(error: unknown, requestId: string): LocalReply {
  return errorResponse(error, requestId, UNKNOWN);
}

/**
 * Returns the headers of a reply with its length. Its type is last, see {@link setContentType}. Over HTTP/2, an empty
 * response ends with its head and has no length, as gRPC expects.
 */
export function headersOf(reply: LocalReply, httpVersionMajor = 1): string[] {
  const headers = [...reply.headers];
  const endsWithHead = isBodiless(reply.status) || (httpVersionMajor > 1 && reply.body.length === 0);
  if (!endsWithHead) headers.push('content-length', String(Buffer.byteLength(reply.body)));
  return headers;
}

/** Adds the content type of the body, unless the changes of the route set one. */
export function setContentType(headers: string[], { contentType, status }: LocalReply): void {
  if (contentType === '' || isBodiless(status) || hasHeader(headers, 'content-type')) return;
  headers.push('content-type', contentType);
}

/** Writes a head. An unread request body closes the connection, after the client could read the response. */
export function writeHead({ req, res }: Exchange, status: number, flat: string[]): void {
  const unread = isUnread(req);
  res.writeHead(status, unread ? [...flat, 'connection', 'close'] : flat);
  if (unread) lingerOnClose(res);
}

/** A request without a body counts as complete only after its handler. */
const isUnread = (req: IncomingMessage): boolean => hasBody(req) && !req.complete;

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Writes a reply and returns the number of body bytes. HEAD and statuses without a body get none.
 */
export function writeReply({ req, res }: Exchange, status: number, flat: string[], body: ReplyBody): number {
  const isText = typeof body === 'string';
  if (isText && res instanceof PlainResponse && !isUnread(req) && res.sendWhole(status, flat, body)) return body.length;
  writeHead({ req, res }, status, flat);
  if (body.length === 0 || req.method === 'HEAD' || isBodiless(status)) {
    res.end();
    return 0;
  }
  const length = Buffer.byteLength(body);
  if (!isText) {
    res.end(body);
    return length;
  }
  // ASCII is written with the head at once, without a conversion.
  res.end(body, length === body.length ? 'latin1' : 'utf8');
  return length;
}

/** Sends a reply unchanged. */
export function sendReply(exchange: Exchange, reply: LocalReply): void {
  const headers = headersOf(reply, exchange.req.httpVersionMajor);
  setContentType(headers, reply);
  writeReply(exchange, reply.status, headers, reply.body);
}

/** Statuses whose responses have no body (RFC 9110 §6.4.1). */
function isBodiless(status: number): boolean {
  return status < 200 || status === 204 || status === 304;
}
