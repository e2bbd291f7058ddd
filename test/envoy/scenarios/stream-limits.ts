import { ask, envoys, ours, type Group, type Reply } from '../scenario.ts';

const half: Reply = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf';

export const streamLimits: readonly Group[] = [
  {
    name: 'idleTimeout',
    ours: { routes: [ours({ prefix: '/' }, { idleTimeout: '0.15s', timeout: '0s' })] },
    envoy: { routes: [envoys({ prefix: '/' }, { idle_timeout: '0.15s', timeout: '0s' })] },
    cases: {
      'before the head': { request: ask('GET /'), upstream: [() => {}] },
      'within the body': { request: ask('GET /'), upstream: [half] },
    },
  },
  {
    name: 'maxStreamDuration',
    ours: { routes: [ours({ prefix: '/' }, { maxStreamDuration: { maxStreamDuration: '0.15s' }, timeout: '0s' })] },
    envoy: {
      routes: [envoys({ prefix: '/' }, { max_stream_duration: { max_stream_duration: '0.15s' }, timeout: '0s' })],
    },
    cases: {
      'before the head': { request: ask('GET /'), upstream: [() => {}] },
      'within the body': { request: ask('GET /'), upstream: [half] },
    },
  },
  {
    name: 'grpc-timeout',
    ours: { routes: [ours({ prefix: '/' }, { maxStreamDuration: { grpcTimeoutHeaderMax: '0.2s' }, timeout: '0s' })] },
    envoy: {
      routes: [envoys({ prefix: '/' }, { max_stream_duration: { grpc_timeout_header_max: '0.2s' }, timeout: '0s' })],
    },
    cases: {
      'of a gRPC request': {
        request: ask('POST /', ['content-type: application/grpc', 'grpc-timeout: 100m', 'Content-Length: 0']),
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
    ours: { listener: { httpConnectionManagerSettings: { requestTimeout: '0.2s' } } },
    envoy: { manager: { request_timeout: '0.2s' } },
    cases: {
      'of a request that does not end': { request: ask('POST /', ['Content-Length: 5'], 'he'), received: 1 },
      'of a complete request': ask('GET /'),
    },
  },
  {
    name: 'streamIdleTimeout',
    ours: { listener: { httpConnectionManagerSettings: { streamIdleTimeout: '0.2s' } } },
    envoy: { manager: { stream_idle_timeout: '0.2s' } },
    cases: {
      'of a request that does not end': { request: ask('POST /', ['Content-Length: 5'], 'he'), received: 1 },
      'before the head': { request: ask('GET /'), upstream: [() => {}] },
      'within the body': { request: ask('GET /'), upstream: [half] },
    },
  },
  {
    name: 'requestHeadersTimeout',
    ours: { listener: { httpConnectionManagerSettings: { requestHeadersTimeout: '0.2s' } } },
    envoy: { manager: { request_headers_timeout: '0.2s' } },
    cases: { 'of a head that does not end': 'GET / HTTP/1.1\r\nHost: $host\r\n' },
  },
  {
    name: 'maxRequestsPerConnection',
    ours: { listener: { httpConnectionManagerSettings: { maxRequestsPerConnection: 2 } } },
    envoy: { manager: { common_http_protocol_options: { max_requests_per_connection: 2 } } },
    cases: { 'closes after the last one': [ask('GET /a'), ask('GET /b')] },
  },
];
