import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, type ErrorReply } from './errors.ts';
import { ERROR_CODES } from './error-codes.ts';
import { factsOf } from './facts.ts';

/** What a client is told of an error. */
export interface ErrorResponse {
  readonly status: number;
  readonly body: string;
  /** Empty when there is no body to describe. */
  readonly contentType: string;
  /** Flat, beside those that describe the body. */
  readonly headers: readonly string[];
}

/** Code and message for clients of an error that is no `GatewayError`. */
export interface UnknownError {
  readonly code: string;
  readonly status: number;
  readonly message: string;
}

const UNKNOWN: UnknownError = { code: 'ERR_CORE_HANDLER', ...ERROR_CODES.ERR_CORE_HANDLER };

/**
 * Returns the response to an error: the one it brings, else code, message and request id as JSON. From status 500 on, and
 * for errors of others, the client gets the message of `unknown`, so that nothing shows a cause.
 */
export function errorResponse(error: unknown, requestId: string, unknown: UnknownError = UNKNOWN): ErrorResponse {
  if (!(error instanceof GatewayError)) {
    const { code, status, message } = unknown;
    return jsonResponse(status, { code, message, requestId }, []);
  }
  const { code, status, reply, headers } = error;
  if (reply) return ownResponse(error, reply);
  const message = status < 500 ? error.message : unknown.message;
  return jsonResponse(status, { code, message, requestId }, Object.entries(headers).flat());
}

function ownResponse({ status, headers }: GatewayError, { body }: ErrorReply): ErrorResponse {
  const { 'content-type': contentType = 'text/plain', ...others } = headers;
  return { status, body, contentType: body === '' ? '' : contentType, headers: Object.entries(others).flat() };
}

/** Returns a response with a value as JSON. */
export function jsonResponse(status: number, body: object, headers: readonly string[]): ErrorResponse {
  return { status, body: JSON.stringify(body), contentType: 'application/json', headers };
}

/** Answers a request with an error, in a server of one's own. What was begun already is cut off. */
export function respondToError(error: unknown, req: IncomingMessage, res: ServerResponse): void {
  if (res.writableEnded || res.destroyed) return;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, body, contentType, headers } = errorResponse(error, factsOf(req).requestId || randomUUID());
  const names = new Set(headers.flatMap((each, i) => (i % 2 === 0 ? [each.toLowerCase()] : [])));
  for (const name of names) res.removeHeader(name);
  for (let i = 0; i < headers.length; i += 2) res.appendHeader(headers[i]!, headers[i + 1]!);
  if (contentType !== '') res.setHeader('content-type', contentType);
  res.setHeader('content-length', Buffer.byteLength(body));
  // A body that nobody reads would be taken for the next request.
  if (!req.complete && req.httpVersionMajor < 2) res.setHeader('connection', 'close');
  res.statusCode = status;
  res.end(req.method === 'HEAD' ? '' : body);
}
