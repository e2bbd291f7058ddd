import { http } from './node-http.ts';
import { GatewayError, type ErrorReply } from '../errors.ts';
import { ERROR_CODES } from '../error-codes.ts';
import type { ReplyBody } from './reply-body.ts';

/** The response to an error. */
export interface ErrorResponse {
  readonly status: number;
  readonly body: ReplyBody;
  /** Empty if there is no body. */
  readonly contentType: string;
  /** Flat, without those that describe the body. */
  readonly headers: readonly string[];
  /** The text of the body; missing if the gateway did not write it. Browsers receive a page with it: see `renderForBrowser`. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** Code and message for clients of an error that is not a `GatewayError`. */
const UNKNOWN = { code: 'ERR_CORE_HANDLER', ...ERROR_CODES.ERR_CORE_HANDLER };

/**
 * Returns the response to an error: its own response, otherwise code, message and request id as JSON. From status 500 on, and
 * for unknown errors, the client receives the message of `unknown`, so that the cause is not exposed. It has an `x-request-id`.
 */
export function errorResponse(
  error: unknown,
  requestId: string,
  unknown: { readonly code: string; readonly status: number; readonly message: string } = UNKNOWN,
): ErrorResponse {
  if (!(error instanceof GatewayError)) {
    const { code, status, message } = unknown;
    return jsonResponse(status, { code, message, requestId }, []);
  }
  const { code, status, reply, headers } = error;
  if (reply) return ownResponse(error, reply, requestId);
  const message = status < 500 ? error.message : unknown.message;
  return jsonResponse(status, { code, message, requestId }, Object.entries(headers).flat());
}

function ownResponse(
  { code, status, headers }: GatewayError,
  { body, cookies = [], isFinal }: ErrorReply,
  requestId: string,
): ErrorResponse {
  const { 'content-type': contentType = 'text/plain' } = headers;
  const flat: string[] = [];
  for (const name of Object.keys(headers)) if (name !== 'content-type') flat.push(name, headers[name]!);
  for (const cookie of cookies) flat.push('set-cookie', cookie);
  const all = status < 400 ? flat : withRequestId(flat, requestId);
  const response = { status, body, contentType: body.length > 0 ? contentType : '', headers: all };
  return isFinal && body.length > 0 ? response : { ...response, error: { code, message: String(body) } };
}

/** Returns a response to an error as JSON: code, message and request id. */
export function jsonResponse(
  status: number,
  error: { readonly code: string; readonly message?: string; readonly requestId: string },
  headers: readonly string[],
): ErrorResponse {
  const { code, message = '', requestId } = error;
  // Some errors have no text in their other forms.
  const shown = message === '' ? (http.STATUS_CODES[status] ?? 'Error') : message;
  const body = JSON.stringify({ code, message: shown, requestId });
  return { status, body, contentType: JSON_TYPE, headers: withRequestId(headers, requestId), error: { code, message } };
}

/** The type of errors as JSON. */
export const JSON_TYPE = 'application/json';

/** Returns the headers of an error with the id of its request, unless they have one. */
export function withRequestId(headers: readonly string[], requestId: string): readonly string[] {
  const isSet = headers.some((each, i) => i % 2 === 0 && each.toLowerCase() === 'x-request-id');
  return isSet || requestId === '' ? headers : [...headers, 'x-request-id', requestId];
}
