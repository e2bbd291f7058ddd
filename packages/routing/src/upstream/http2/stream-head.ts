import { isHeaderBytes, isHeaderName } from '@edge-gateway/core';
import { RequestHeadError, UpstreamProtocolError } from '../../http1/errors.ts';
import { trimmedValue } from '../../http1/field-value.ts';
import { sameName } from '../../http1/flat-headers.ts';
import { acceptsTrailers, isHopByHop } from '../../http1/hop-by-hop.ts';
import {
  checkField,
  checkTarget,
  checkTunnelAuthority,
  isFraming,
  sendsEmptyLength,
  type Framing,
} from '../../http1/request-head.ts';
import type { RequestLine } from '../../http1/request-head.ts';
import type { ResponseHead } from '../../http1/response-head.ts';

/** Maximum size of the header list of a response, in bytes. Node announces it, and does not apply it. */
export const MAX_HEADER_LIST_BYTES = 64 * 1024;
const DIGITS = /^\d{1,15}$/;

/** Where a request is sent. */
export interface RequestTarget {
  readonly scheme: 'http' | 'https';
  /** Used if the request names no host. */
  readonly authority: string;
}

/**
 * Returns the header list of a request, flat, pseudo-headers first and names in lower case. Throws a `RequestHeadError` for headers
 * that are unsafe to send.
 */
export function requestHeaders(line: RequestLine, target: RequestTarget, framing: Framing): string[] {
  const { method, path, headers } = line;
  checkTarget(method, path);
  const list = [':method', method, ':scheme', target.scheme, ':authority', '', ':path', path];
  let authority: string | undefined;
  let isGrpc = false;
  let acceptsThem = false;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    const value = headers[i + 1]!;
    if (isFraming(name)) {
      if (name.length === 2 && acceptsTrailers(value)) acceptsThem = true;
      else if (line.sendsTrailers === true && framing === 'chunked' && sameName(name, 'trailer'))
        list.push('trailer', value);
      continue;
    }
    checkField(name, value);
    if (sameName(name, 'host')) {
      if (authority !== undefined) throw new RequestHeadError('two hosts');
      authority = value;
    } else {
      if (name.length === 12 && value.startsWith('application/grpc') && sameName(name, 'content-type')) isGrpc = true;
      list.push(name.toLowerCase(), value);
    }
  }
  // gRPC servers reject requests without it.
  if (acceptsThem || isGrpc) list.push('te', 'trailers');
  list[5] = authority ?? target.authority;
  if (line.expectsContinue === true) list.push('expect', '100-continue');
  if (typeof framing === 'number') list.push('content-length', String(framing));
  else if (framing === undefined && sendsEmptyLength(method)) list.push('content-length', '0');
  return list;
}

/** Headers that a WebSocket over HTTP/2 must not have (RFC 8441 §5). */
const WEBSOCKET_KEY = 'sec-websocket-key';

/**
 * Returns the header list of a tunnel to the host of a request, or with `protocol` that of an upgraded stream (RFC 8441). Throws a
 * `RequestHeadError` for headers that are unsafe to send.
 */
export function tunnelHeaders(
  { path, headers }: Pick<RequestLine, 'path' | 'headers'>,
  target: RequestTarget,
  protocol: string | undefined,
): string[] {
  const kept = headers.filter((_text, i) => !sameName(headers[i - (i % 2)]!, WEBSOCKET_KEY));
  if (protocol === undefined) {
    const [, , , , , authority = '', , , ...rest] = requestHeaders(
      { method: 'CONNECT', path: '/', headers: kept },
      target,
      undefined,
    );
    checkTunnelAuthority(authority);
    return [':method', 'CONNECT', ':authority', authority, ...rest];
  }
  const [, , ...rest] = requestHeaders({ method: 'GET', path, headers: kept }, target, undefined);
  return [':method', 'CONNECT', ':protocol', protocol, ...rest];
}

/**
 * Reads the header list of a response, as Node passes it on. Throws an `UpstreamProtocolError` for one that could not be sent to a
 * client unchanged. `bodiless` is true for the response to a HEAD request.
 */
export function readResponseHeaders(raw: readonly string[], bodiless: boolean): ResponseHead {
  let status = 0;
  let size = 0;
  let length: string | undefined;
  let trailer: string | undefined;
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    const value = trimmedValue(raw[i + 1]!);
    size += name.length + value.length;
    if (size > MAX_HEADER_LIST_BYTES) throw new UpstreamProtocolError('the head is too long');
    if (name === ':status') status = Number(value);
    else if (name === 'content-length') {
      if (length !== undefined || !DIGITS.test(value))
        throw new UpstreamProtocolError('content-length is repeated or not a number');
      length = value;
      if (status !== 204) headers.push(name, value);
    } else {
      checkReceived(name, value);
      if (!isHopByHop(name)) headers.push(name, value);
      else if (name === 'trailer') trailer = trailer === undefined ? value : `${trailer},${value}`;
    }
  }
  if (!(status >= 100 && status <= 599) || status === 101) throw new UpstreamProtocolError('malformed status');
  const empty = bodiless || status === 204 || status === 304;
  const framing = empty ? 0 : length === undefined ? 'chunked' : Number(length);
  return { status, headers, trailer, framing, keepAlive: true, keepAliveSeconds: undefined };
}

/** Reads the trailers of a response. Throws an `UpstreamProtocolError` for invalid ones. */
export function readTrailers(raw: readonly string[]): readonly string[] {
  const trailers = raw.map((each, i) => (i % 2 === 0 ? each : trimmedValue(each)));
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!;
    checkReceived(name, trailers[i + 1]!);
    if (name === 'content-length' || isHopByHop(name))
      throw new UpstreamProtocolError('a trailer must not be a framing header');
  }
  return trailers;
}

function checkReceived(name: string, value: string): void {
  if (!isHeaderName(name)) throw new UpstreamProtocolError('a header name is not a token');
  if (!isHeaderBytes(value)) throw new UpstreamProtocolError(`the value of ${name} contains a control character`);
}
