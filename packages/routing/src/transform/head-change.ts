import { GatewayError, isHeaderBytes, type Facts } from '@edge-gateway/core';
import { replyError, routingError } from '../error-codes.ts';

/** Maximum length of a header value that a transformation sets, in characters. */
export const MAX_HEADER_VALUE = 65_536;

/** Returns a rendered value without surrounding white space. Throws 400 for one that cannot be sent in a header. */
export function headerValue(name: string, rendered: string): string {
  const value = withoutOuterSpace(rendered);
  if (value.length > MAX_HEADER_VALUE) throw badRequest(`the value of ${name} is too long`);
  if (!isHeaderBytes(value)) throw badRequest(`the value of ${name} has control characters`);
  return value;
}

const SPACE = ' \t\r\n';

/** Only ASCII white space: in a byte string, U+00A0 is part of a multi-byte character. */
function withoutOuterSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.includes(text[start]!)) start++;
  while (end > start && SPACE.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** Creates the error of a message that cannot be transformed; `reason` is for the log only. */
export function badRequest(reason: string): GatewayError {
  return routingError('ERR_ROUTING_TRANSFORMATION', undefined, new Error(reason));
}

/** Creates the error of a body that cannot be read; the sender is told why. */
export function badBody(reason: string): GatewayError {
  return replyError('ERR_ROUTING_TRANSFORMATION', { body: `bad request: ${reason}` });
}

/** Returns the fields of the log for a message that cannot be transformed. */
export function failureFields({ requestId, routeName }: Facts, error: unknown): Record<string, string | undefined> {
  return { requestId, ...(routeName && { route: routeName }), reason: reasonOf(error) };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof GatewayError)) return '';
  return error.cause instanceof Error ? error.cause.message : String(error.reply?.body ?? error.message);
}
