import { isHost, type GatewayError } from '@edge-gateway/core';
import { METHODS } from 'node:http';
import { DEFAULT_PATH_SETTINGS, canonicalPath, hidesDotSegment } from '../route/match/canonical-path.ts';
import type { Message } from './message.ts';
import { routingError } from '../error-codes.ts';

/** Maximum length of a header value that a transformation sets, in characters. */
export const MAX_HEADER_VALUE = 65_536;
/** Methods that change what the response or the connection is. */
const FIXED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSENDABLE = /[\u0000-\u0008\u000a-\u001f\u007f\u0100-\uffff]/;

/** Returns a rendered value without surrounding white space. Throws 400 for one that cannot be sent in a header. */
export function headerValue(name: string, rendered: string): string {
  const value = withoutOuterSpace(rendered);
  if (value.length > MAX_HEADER_VALUE) throw badRequest(`the value of ${name} is too long`);
  if (UNSENDABLE.test(value)) throw badRequest(`the value of ${name} has control characters`);
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

/** Sets a header or pseudo header to one value; an empty one removes a header. */
export function setHead(message: Message, name: string, value: string): void {
  if (name === ':path') setPath(message, value);
  else if (name === ':method') setMethod(message, value);
  else if (name === ':authority' || name === 'host') setAuthority(message, value);
  else if (value === '') message.facts.requestChanges.push({ op: 'remove', name });
  else message.facts.requestChanges.push({ op: 'set', name, value });
}

/** Rejects dot segments and a leading `//`: a client value must not escape the path of the template. */
function setPath({ facts }: Message, value: string): void {
  const canonical = canonicalPath(value, DEFAULT_PATH_SETTINGS);
  const rejected =
    !('path' in canonical) || canonical.path.startsWith('//') || hidesDotSegment(value.split('?', 1)[0]!);
  if (rejected) throw badRequest('the new :path is not canonical');
  facts.path = canonical.path;
}

function setMethod(message: Message, value: string): void {
  const { facts, req } = message;
  if (!METHODS.includes(value) || FIXED_METHODS.has(value)) throw badRequest('the new :method is not allowed');
  // The client of another request would wait for the body that a response to HEAD only announces.
  if (value === 'HEAD' && req.method !== 'HEAD') throw badRequest('the new :method is HEAD');
  facts.method = value;
}

function setAuthority({ facts }: Message, value: string): void {
  if (value === '' || !isHost(value)) throw badRequest('the new :authority is not a host');
  facts.requestChanges.push({ op: 'set', name: 'host', value });
}

/** Creates the error of a request that cannot be transformed; `reason` is for the log only. */
export function badRequest(reason: string): GatewayError {
  return routingError('ERR_ROUTING_TRANSFORMATION', undefined, new Error(reason));
}
