import { isUtf8 } from 'node:buffer';
import type { AuthRequest } from '@edge-gateway/core';
import { toStruct } from '@edge-gateway/core/grpc';
import type { CheckRequest, Peer } from './protocol.ts';

/** What a server receives besides the request itself. */
export interface CheckDetails {
  readonly contextExtensions: Readonly<Record<string, string>>;
  /** JSON objects by namespace. */
  readonly metadata: ReadonlyMap<string, object>;
  /** When the request arrived, in milliseconds since the epoch. */
  readonly time: number;
}

/** Returns the message to an auth server, with the content that Envoy 1.40 sends. */
export function checkRequestOf(request: AuthRequest, details: CheckDetails): CheckRequest {
  const { path, method, host, scheme, body, packAsBytes, requestId, connection, contentLength } = request;
  const { contextExtensions, metadata, time } = details;
  const http = {
    id: requestId,
    method,
    path,
    host,
    scheme,
    protocol: connection?.protocol ?? 'HTTP/1.1',
    headers: sentHeadersOf(request),
    size: body ? Number(contentLength ?? body.length) : 0,
    ...(packAsBytes ? { rawBody: body } : { body: body && textOf(body) }),
  };
  const tls = request.tls?.();
  return {
    attributes: {
      source: peerOf(request.clientAddress, connection?.clientPort, tls?.client),
      destination: peerOf(connection?.localAddress, connection?.localPort, tls?.server),
      request: { time: { seconds: Math.floor(time / 1000), nanos: (time % 1000) * 1e6 }, http },
      contextExtensions,
      metadataContext: {
        filterMetadata: Object.fromEntries([...metadata].map(([name, value]) => [name, toStruct(value)])),
      },
      ...(tls && { tlsSession: { sni: tls.serverName } }),
    },
  };
}

function peerOf(address = '', portValue = 0, principal = ''): Peer {
  return { address: { socketAddress: { address, portValue } }, ...(principal !== '' && { principal }) };
}

/** States whether the body is only its beginning; clients must not send it. */
const PARTIAL = 'x-envoy-auth-partial-body';

/** Returns the headers of a request as servers receive them: several values joined, names in lower case, without `host`. */
export function sentHeadersOf(request: AuthRequest): Readonly<Record<string, string>> {
  // Without a prototype: a client may name a header `constructor`.
  const headers = Object.create(null) as Record<string, string>;
  headers[':authority'] = request.host;
  headers[':method'] = request.method;
  headers[':path'] = request.path;
  headers[':scheme'] = request.scheme;
  if (request.contentLength !== undefined) headers['content-length'] = request.contentLength;
  const flat = request.headers();
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    if (NOT_COPIED.has(name)) continue;
    const before = headers[name] === undefined ? '' : headers[name] + (name === 'cookie' ? '; ' : ',');
    headers[name] = before + flat[i + 1]!;
  }
  if (request.body?.length) headers[PARTIAL] = String(request.isPartialBody === true);
  return headers;
}

const NOT_COPIED: ReadonlySet<string> = new Set(['host', 'content-length', PARTIAL]);

/** Returns a body as text; each byte that is not part of valid UTF-8 becomes `!`. */
function textOf(body: Buffer): string {
  if (isUtf8(body)) return body.toString('utf8');
  const valid = Buffer.from(body);
  for (let i = 0; i < valid.length;) {
    const length = lengthFrom(valid[i]!);
    const isValid = isUtf8(valid.subarray(i, i + length));
    if (!isValid) valid[i] = 0x21;
    i += isValid ? length : 1;
  }
  return valid.toString('utf8');
}

/** Length of the character that begins with a byte. */
function lengthFrom(byte: number): number {
  if (byte < 0xe0) return byte < 0xc0 ? 1 : 2;
  return byte < 0xf0 ? 3 : 4;
}
