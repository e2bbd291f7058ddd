import { ask, type Group, type Reply } from '../scenario.ts';

const half: Reply = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf';

export const streamLimits: readonly Group[] = [
  {
    name: 'listener limits',
    ours: { listener: { httpConnectionManagerSettings: { requestTimeout: '0.2s' } } },
    envoy: { manager: { request_timeout: '0.2s' } },
    cases: {
      'of a request that does not end': ask('POST /', ['Content-Length: 5'], 'he'),
      'of a complete request': ask('GET /'),
    },
  },
  {
    name: 'streamIdleTimeout',
    ours: { listener: { httpConnectionManagerSettings: { streamIdleTimeout: '0.2s' } } },
    envoy: { manager: { stream_idle_timeout: '0.2s' } },
    cases: {
      'of a request that does not end': ask('POST /', ['Content-Length: 5'], 'he'),
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
