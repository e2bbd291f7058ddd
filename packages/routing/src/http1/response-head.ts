import { isHeaderName } from '@edge-gateway/core';
import { UpstreamProtocolError } from './errors.ts';
import { hasBrokenLines, removeWhere } from './flat-headers.ts';
import { isHopByHop, namedByConnection } from './hop-by-hop.ts';

/** Lines of headers that are sent repeatedly, by their position in the flat headers. */
export type KnownLines = (string | undefined)[];

export interface ResponseHead {
  readonly status: number;
  /** Flat, with names as received, without hop-by-hop headers and those that `Connection` lists. */
  readonly headers: readonly string[];
  /** Value of `Trailer`, if any. */
  readonly trailer: string | undefined;
  /** Length of the body in bytes; `chunked`; or `close` if it ends with the connection. */
  readonly framing: number | 'chunked' | 'close';
  /** True if another request may follow on the connection. */
  readonly keepAlive: boolean;
  /** The keep-alive time that the server declares, if any, in seconds. */
  readonly keepAliveSeconds: number | undefined;
  /** Cache of the lines of `headers`, for a head that is expected to repeat. */
  readonly lines?: KnownLines | undefined;
}

/** Offsets of the minor version and the status in a status line. */
const VERSION_AT = 7;
const STATUS_AT = 9;
const ZERO = 48;
const SPACE = 32;
const DIGITS = /^\d{1,15}$/;
const TIMEOUT = /(?:^|[\s,])timeout=(\d{1,9})(?:$|[\s,])/i;

/**
 * Parses the head of a response, from its status line to its last line break, as strictly as RFC 9112 allows: anything
 * ambiguous is an `UpstreamProtocolError`. `bodiless` is true for the response to a HEAD request.
 */
export function readResponseHead(text: string, bodiless: boolean): ResponseHead {
  if (hasBrokenLines(text))
    throw new UpstreamProtocolError('the head contains a bare line break or a control character');
  const lineEnd = text.indexOf('\r\n');
  const status = readStatus(text, lineEnd);
  if (status === 0) throw new UpstreamProtocolError('malformed HTTP/1.1 status line');
  const headers: string[] = [];
  let named: readonly string[] | undefined;
  let length: string | undefined;
  let coding: string | undefined;
  let trailer: string | undefined;
  let keepAliveSeconds: number | undefined;
  for (let at = lineEnd + 2; at < text.length;) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    const name = colon < end ? text.slice(at, colon) : '';
    if (!isHeaderName(name)) throw new UpstreamProtocolError('a header name is not a token');
    const value = trimmed(text, colon + 1, end);
    at = end + 2;
    if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (length !== undefined || !DIGITS.test(value)) {
        throw new UpstreamProtocolError('content-length is repeated or not a number');
      }
      length = value;
      if (status !== 204) headers.push(name, value);
    } else if (!isHopByHop(name)) {
      headers.push(name, value);
    } else {
      const lower = name.toLowerCase();
      if (lower === 'connection') named = named ? [...named, ...namedByConnection(value)] : namedByConnection(value);
      else if (lower === 'transfer-encoding') coding = coding === undefined ? value : `${coding},${value}`;
      else if (lower === 'trailer') trailer = trailer === undefined ? value : `${trailer},${value}`;
      else if (lower === 'keep-alive') keepAliveSeconds = secondsOf(value);
    }
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new UpstreamProtocolError('the transfer-encoding is not chunked');
  }
  if (coding !== undefined && length !== undefined) {
    throw new UpstreamProtocolError('both content-length and transfer-encoding');
  }
  if (named && namesMore(named)) {
    const dropped = new Set(named);
    dropped.delete('content-length');
    removeWhere(headers, (name) => dropped.has(name.toLowerCase()));
  }
  const empty = bodiless || status === 204 || status === 304 || status < 200;
  const framing = empty ? 0 : coding === undefined ? (length === undefined ? 'close' : Number(length)) : 'chunked';
  const old = text.charCodeAt(VERSION_AT) === ZERO;
  return {
    status,
    headers,
    trailer,
    framing,
    keepAlive: !named?.includes('close') && (!old || (named?.includes('keep-alive') === true && coding === undefined)),
    keepAliveSeconds,
    lines: undefined,
  };
}

/** Returns the status of a status line that ends at `end`; 0 if it is not HTTP/1.0 or 1.1. */
function readStatus(text: string, end: number): number {
  const minor = text.charCodeAt(VERSION_AT) - ZERO;
  if (!text.startsWith('HTTP/1.') || (minor !== 0 && minor !== 1) || text.charCodeAt(8) !== SPACE) return 0;
  const afterAt = STATUS_AT + 3;
  if (end < afterAt || (end > afterAt && text.charCodeAt(afterAt) !== SPACE)) return 0;
  let status = 0;
  for (let i = STATUS_AT; i < afterAt; i++) {
    const digit = text.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return 0;
    status = status * 10 + digit;
  }
  return status >= 100 && status <= 599 ? status : 0;
}

function trimmed(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

const isBlank = (code: number): boolean => code === SPACE || code === 9;

function secondsOf(value: string): number | undefined {
  const match = TIMEOUT.exec(value);
  return match ? Number(match[1]) : undefined;
}

function namesMore(names: readonly string[]): boolean {
  return names.some((name) => name !== 'keep-alive' && name !== 'close');
}
