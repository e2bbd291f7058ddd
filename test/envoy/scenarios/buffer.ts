import { ask, envoys, envoyType, ours, post, type Group } from '../scenario.ts';

const buffer = (bytes: number): object => ({ ...envoyType('filters.http.buffer.v3.Buffer'), max_request_bytes: bytes });
const perRoute = (config: object): object => ({
  typed_per_filter_config: {
    'envoy.filters.http.buffer': { ...envoyType('filters.http.buffer.v3.BufferPerRoute'), ...config },
  },
});

export const bufferLimits: readonly Group[] = [
  {
    name: 'buffer',
    ours: {
      listener: { buffer: { maxRequestBytes: 10 } },
      routes: [
        ours({ prefix: '/off' }, { bufferPerRoute: { disabled: true } }),
        ours({ prefix: '/big' }, { bufferPerRoute: { buffer: { maxRequestBytes: 20 } } }),
        ours(),
      ],
    },
    envoy: {
      filters: [{ name: 'envoy.filters.http.buffer', typed_config: buffer(10) }],
      routes: [
        envoys({ prefix: '/off' }, {}, perRoute({ disabled: true })),
        envoys({ prefix: '/big' }, {}, perRoute({ buffer: { max_request_bytes: 20 } })),
        envoys(),
      ],
    },
    cases: {
      'forwards a body within the limit': post('/', '0123456789'),
      'rejects a larger body': post('/', '0123456789a'),
      'rejects a larger body in chunks': ask('POST /', ['Transfer-Encoding: chunked'], 'b\r\n0123456789a\r\n0\r\n\r\n'),
      'gives a body in chunks a length': ask('POST /', ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'),
      'is off on a route': post('/off', '0123456789a'),
      'is larger on a route': post('/big', '0123456789a'),
      'rejects what is larger than that of the route': post('/big', 'x'.repeat(21)),
      'forwards GET': ask('GET /'),
    },
  },
];
