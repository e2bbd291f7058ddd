import type { RequestRecord } from '../src/format/record.ts';

/** The record of a finished request, but for what `parts` say. */
export function recordOf(parts: Partial<RequestRecord> = {}): RequestRecord {
  return {
    method: 'GET',
    authority: 'a.example',
    path: '/a?x=1',
    pathname: '/a',
    originalPath: '/a?x=1',
    headers: [],
    protocol: 'HTTP/1.1',
    requestId: 'id-1',
    startedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    clientAddress: '10.0.0.1',
    directAddress: '10.0.0.2',
    directPort: 1234,
    localAddress: '10.0.0.3',
    localPort: 8080,
    serverName: '',
    tlsVersion: '',
    routeName: 'r',
    virtualHost: 'v',
    upstream: 'up_gw-system',
    upstreamHost: '10.0.0.4:80',
    status: 200,
    responseHeaders: [],
    details: '',
    flags: '',
    bytesReceived: 1,
    bytesSent: 2,
    durationMs: 12.34,
    upstreamMs: 10.2,
    metadata: new Map(),
    ...parts,
  };
}
