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
  /** The text of the body; missing if the gateway did not write it. Browsers receive a page with it: see `forPeople`. */
  readonly error?: { readonly code?: string; readonly message: string };
}

/** Code and message for clients of an error that is not a `GatewayError`. */
const UNKNOWN = { code: 'ERR_CORE_HANDLER', ...ERROR_CODES.ERR_CORE_HANDLER };

/**
 * Returns the response to an error: its own response, otherwise code, message and request id as JSON. From status 500 on, and
 * for unknown errors, the client receives the message of `unknown`, so that the cause is not exposed.
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
  if (reply) return ownResponse(error, reply);
  const message = status < 500 ? error.message : unknown.message;
  return jsonResponse(status, { code, message, requestId }, Object.entries(headers).flat());
}

function ownResponse(
  { code, status, headers }: GatewayError,
  { body, cookies = [], isFinal }: ErrorReply,
): ErrorResponse {
  const { 'content-type': contentType = 'text/plain' } = headers;
  const flat: string[] = [];
  for (const name of Object.keys(headers)) if (name !== 'content-type') flat.push(name, headers[name]!);
  for (const cookie of cookies) flat.push('set-cookie', cookie);
  const response = { status, body, contentType: body.length > 0 ? contentType : '', headers: flat };
  return isFinal && body.length > 0 ? response : { ...response, error: { code, message: String(body) } };
}

/** Returns a response to an error as JSON: code, message and request id. */
export function jsonResponse(
  status: number,
  error: { readonly code: string; readonly message: string; readonly requestId: string },
  headers: readonly string[],
): ErrorResponse {
  return { status, body: JSON.stringify(error), contentType: 'application/json', headers, error };
}
