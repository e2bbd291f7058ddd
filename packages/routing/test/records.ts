import type {
  RecordedConnection,
  RecordedHead,
  RecordedRoute,
  RequestRecord,
  RequestResult,
} from '../src/format/record.ts';

/** The parts of a record beside each other. */
export type RecordParts = Partial<
  RecordedConnection &
    RecordedHead &
    RecordedRoute &
    Readonly<RequestResult> &
    Pick<RequestRecord, 'startedAt' | 'metadata' | 'trace'>
>;

const CONNECTION: RecordedConnection = {
  protocol: 'HTTP/1.1',
  directAddress: '10.0.0.2',
  directPort: 1234,
  peerAddress: '10.0.0.2',
  peerPort: 1234,
  localAddress: '10.0.0.3',
  localPort: 8080,
  tls: false,
  clientVerified: false,
  serverName: '',
  tlsVersion: '',
  id: 7,
  tlsCipher: '',
  clientCertificate: undefined,
};

const HEAD: RecordedHead = {
  method: 'GET',
  authority: 'a.example',
  path: '/a?x=1',
  pathname: '/a',
  originalPath: '/a?x=1',
  headers: [],
  requestId: 'id-1',
  clientAddress: '10.0.0.1',
};

const ROUTE: RecordedRoute = { routeName: 'r', virtualHost: 'v', upstream: 'up_gw-system' };

const RESULT: Readonly<RequestResult> = {
  upstreamHost: '10.0.0.4:80',
  status: 200,
  responseHeaders: [],
  responseTrailers: [],
  details: '',
  transportFailure: '',
  attempts: 0,
  flags: '',
  bytesReceived: 1,
  bytesSent: 2,
  durationMs: 12.34,
  upstreamMs: 10.2,
  isHealthCheck: false,
  sentMs: 1.5,
  receivedMs: 0.6,
  upstreamLocal: { address: '10.0.0.5', port: 40_000 },
  localBody: '',
  termination: '',
};

function withParts<T extends object>(defaults: T, parts: RecordParts): T {
  const known = Object.entries(parts).filter(([name]) => name in defaults);
  return { ...defaults, ...Object.fromEntries(known) };
}

/** The record of a finished request, except for what `parts` say. */
export function recordOf(parts: RecordParts = {}): RequestRecord {
  return {
    startedAt: parts.startedAt ?? Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    connection: withParts(CONNECTION, parts),
    head: withParts(HEAD, parts),
    route: withParts(ROUTE, parts),
    result: withParts(RESULT, parts),
    metadata: parts.metadata ?? new Map(),
    trace: parts.trace,
  };
}
