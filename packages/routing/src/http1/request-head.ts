import { isHeaderBytes, isHost } from '@edge-gateway/core';
import { RequestHeadError } from './errors.ts';
import { sameName } from './flat-headers.ts';
import { headerName } from './header-name.ts';
import { acceptsTrailers } from './hop-by-hop.ts';

export interface RequestLine {
  readonly method: string;
  readonly path: string;
  /** Flat `[name, value, …]`. Hop-by-hop and framing headers in it are omitted, except `te: trailers` and `trailer`. */
  readonly headers: readonly string[];
  /** True sends `Expect: 100-continue`. */
  readonly expectsContinue?: boolean;
  /** True keeps a `Trailer` header of a chunked request: its trailers follow. */
  readonly sendsTrailers?: boolean;
}

/** How the body of a request is delimited: by its length in bytes, in chunks, or no body. */
export type Framing = number | 'chunked' | undefined;

const PATH = /^\/[\x21-\x7e\x80-\xff]*$/;
/** A sender of `TE` must list it in `Connection` (RFC 9110 §10.1.4). */
const EXPECT = 'expect: 100-continue\r\n';
const TE_TRAILERS = 'te: trailers\r\nconnection: TE\r\n';
/** Methods whose requests send `content-length: 0` for an empty body (RFC 9110 8.6). */
const WITH_CONTENT = new Set(['POST', 'PUT', 'PATCH']);

/**
 * Returns the head of a request as text with one character per byte. Names keep their case and order; `host` is the default Host header.
 * Throws a `RequestHeadError` for headers that are unsafe to send: line breaks, names that are not tokens, a second Host header.
 */
export function requestHead(line: RequestLine, host: string, framing: Framing): string {
  const { method, path, headers } = line;
  checkTarget(method, path);
  let lines = '';
  let hosts = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    const value = headers[i + 1]!;
    const { role, isFraming: isOmitted } = headerName(name);
    if (isOmitted) {
      if (role === 'te' && acceptsTrailers(value)) lines += TE_TRAILERS;
      if (role !== 'trailer' || line.sendsTrailers !== true || framing !== 'chunked') continue;
    }
    checkField(name, value);
    if (role === 'host' && ++hosts > 1) throw new RequestHeadError('two hosts');
    lines += `${name}: ${value}\r\n`;
  }
  if (hosts === 0) lines = `host: ${host}\r\n${lines}`;
  return `${method} ${path} HTTP/1.1\r\n${lines}${line.expectsContinue === true ? EXPECT : ''}${framingLine(method, framing)}\r\n`;
}

/**
 * Returns the head of a CONNECT request, with all of `headers` but `host`, which is the authority. Throws a `RequestHeadError` as
 * {@link requestHead} does.
 */
export function connectHead(authority: string, headers: readonly string[]): string {
  const others = headers.filter((_text, i) => !sameName(headers[i - (i % 2)]!, 'host'));
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${fieldLines(others)}\r\n`;
}

/** Returns flat headers without those that the forwarder sets itself. */
export function withoutFraming(headers: readonly string[]): string[] {
  return headers.filter((_text, i) => !isFraming(headers[i - (i % 2)]!));
}

/** Returns flat headers as lines. Throws a `RequestHeadError` for one that must not be sent. */
export function fieldLines(headers: readonly string[]): string {
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) {
    checkField(headers[i]!, headers[i + 1]!);
    lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  }
  return lines;
}

/** Throws a `RequestHeadError` unless it is a host with a port. */
export function checkTunnelAuthority(authority: string): void {
  if (!isHost(authority) || !/:\d+$/.test(authority))
    throw new RequestHeadError(`invalid host '${authority}' of a CONNECT request: must be host:port`);
}

/** Throws a `RequestHeadError` for a method or path that must not be sent. */
export function checkTarget(method: string, path: string): void {
  if (!headerName(method).isToken) throw new RequestHeadError('the method is not a token');
  if (!PATH.test(path)) throw new RequestHeadError('the path is invalid');
}

/** Throws a `RequestHeadError` for a header that must not be sent. */
export function checkField(name: string, value: string): void {
  if (!headerName(name).isToken) throw new RequestHeadError('a header name is not a token');
  if (!isHeaderBytes(value))
    throw new RequestHeadError(`the value of ${name} contains a character that is not allowed`);
}

/** Returns true for a method whose requests send the length of an empty body. */
export const sendsEmptyLength = (method: string): boolean => WITH_CONTENT.has(method);

function framingLine(method: string, framing: Framing): string {
  if (framing === 'chunked') return 'transfer-encoding: chunked\r\n';
  if (framing !== undefined) return `content-length: ${framing}\r\n`;
  return sendsEmptyLength(method) ? 'content-length: 0\r\n' : '';
}

/** Returns true for a header that the forwarder sets itself, or that is omitted. */
export const isFraming = (name: string): boolean => headerName(name).isFraming;
