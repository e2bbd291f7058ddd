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

/** Returns the message that asks a server, with the content that Envoy 1.40 sends. */
export function checkRequestOf(request: AuthRequest, details: CheckDetails): CheckRequest {
  const { path, method, host, scheme, body, packAsBytes, requestId, connection } = request;
  const { contextExtensions, metadata, time } = details;
  const http = {
    id: requestId,
    method,
    path,
    host,
    scheme,
    protocol: connection?.protocol ?? 'HTTP/1.1',
    headers: headersOf(request),
    size: body?.length ?? -1,
    ...(packAsBytes ? { rawBody: body } : { body: body?.toString('utf8') }),
  };
  const tls = request.tls?.();
  return {
    attributes: {
      source: { ...peerOf(request.clientAddress, connection?.clientPort), principal: tls?.client ?? '' },
      destination: { ...peerOf(connection?.localAddress, connection?.localPort), principal: tls?.server ?? '' },
      request: { time: { seconds: Math.floor(time / 1000), nanos: (time % 1000) * 1e6 }, http },
      contextExtensions,
      metadataContext: {
        filterMetadata: Object.fromEntries([...metadata].map(([name, value]) => [name, toStruct(value)])),
      },
      ...(tls && { tlsSession: { sni: tls.serverName } }),
    },
  };
}

function peerOf(address = '', portValue = 0): Peer {
  return { address: { socketAddress: { address, portValue } } };
}

function headersOf(request: AuthRequest): Record<string, string> {
  // Without a prototype: a client may name a header `constructor`.
  const headers = Object.create(null) as Record<string, string>;
  headers[':authority'] = request.host;
  headers[':method'] = request.method;
  headers[':path'] = request.path;
  headers[':scheme'] = request.scheme;
  const flat = request.headers();
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    const before = headers[name] === undefined ? '' : headers[name] + (name === 'cookie' ? '; ' : ',');
    headers[name] = before + flat[i + 1]!;
  }
  return headers;
}
