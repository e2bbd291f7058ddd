import { ask, envoys, ours, LIMIT, type Group, type Reply } from '../scenario.ts';

const half: Reply = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf';

export const streamLimits: readonly Group[] = [
  {
    name: 'idleTimeout',
    ours: { routes: [ours({ prefix: '/' }, { idleTimeout: LIMIT, timeout: '0s' })] },
    envoy: { routes: [envoys({ prefix: '/' }, { idle_timeout: LIMIT, timeout: '0s' })] },
    cases: {
      'leaves a fast response': ask('GET /'),
      'before the head': { request: ask('GET /'), upstream: [() => {}] },
      'within the body': { request: ask('GET /'), upstream: [half] },
    },
  },
  {
    name: 'maxStreamDuration',
    ours: { routes: [ours({ prefix: '/' }, { maxStreamDuration: { maxStreamDuration: LIMIT }, timeout: '0s' })] },
    envoy: {
      routes: [envoys({ prefix: '/' }, { max_stream_duration: { max_stream_duration: LIMIT }, timeout: '0s' })],
    },
    cases: {
      'leaves a fast response': ask('GET /'),
      'before the head': { request: ask('GET /'), upstream: [() => {}] },
      'within the body': { request: ask('GET /'), upstream: [half] },
    },
  },
  {
    name: 'grpc-timeout',
    ours: { routes: [ours({ prefix: '/' }, { maxStreamDuration: { grpcTimeoutHeaderMax: LIMIT }, timeout: '0s' })] },
    envoy: {
      routes: [envoys({ prefix: '/' }, { max_stream_duration: { grpc_timeout_header_max: LIMIT }, timeout: '0s' })],
    },
    cases: {
      'of a gRPC request': {
        request: ask('POST /', ['content-type: application/grpc', 'grpc-timeout: 900m', 'Content-Length: 0']),
        upstream: [() => {}],
      },
      'above the maximum': {
        request: ask('POST /', ['content-type: application/grpc', 'grpc-timeout: 10S', 'Content-Length: 0']),
        upstream: [() => {}],
      },
    },
  },
  {
    name: 'listener limits',
    ours: { listener: { httpConnectionManagerSettings: { requestTimeout: LIMIT } } },
    envoy: { manager: { request_timeout: LIMIT } },
    cases: {
      'of a request that does not end': { request: ask('POST /', ['Content-Length: 5'], 'he') },
      'of a complete request': ask('GET /'),
    },
  },
  {
    name: 'streamIdleTimeout',
    ours: { listener: { httpConnectionManagerSettings: { streamIdleTimeout: LIMIT } } },
    envoy: { manager: { stream_idle_timeout: LIMIT } },
    cases: {
      'leaves a fast response': ask('GET /'),
      'of a request that does not end': { request: ask('POST /', ['Content-Length: 5'], 'he') },
      'before the head': { request: ask('GET /'), upstream: [() => {}] },
      'within the body': { request: ask('GET /'), upstream: [half] },
    },
  },
  {
    name: 'requestHeadersTimeout',
    ours: { listener: { httpConnectionManagerSettings: { requestHeadersTimeout: LIMIT } } },
    envoy: { manager: { request_headers_timeout: LIMIT } },
    cases: { 'of a head that does not end': 'GET / HTTP/1.1\r\nHost: $host\r\n' },
  },
  {
    name: 'maxRequestsPerConnection',
    ours: { listener: { httpConnectionManagerSettings: { maxRequestsPerConnection: 2 } } },
    envoy: { manager: { common_http_protocol_options: { max_requests_per_connection: 2 } } },
    cases: { 'closes after the last one': [ask('GET /a'), ask('GET /b')] },
  },
];
