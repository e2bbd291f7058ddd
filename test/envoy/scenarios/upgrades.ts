import { ask, envoys, ours, LATER_MS, LIMIT, type Case, type Group, type Reply } from '../scenario.ts';

const HANDSHAKE = ask('GET /', [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]);

const hang: Reply = () => {};

/** A handshake and the response of the upstream to it. */
const answered = (...upstream: Reply[]): Case => ({ request: HANDSHAKE, upstream });

export const upgrades: readonly Group[] = [
  {
    name: 'upgrade',
    cases: {
      'to h2c is ignored': ask('GET /', [
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQAAP__',
      ]),
      'to an unknown protocol': ask('GET /', ['Connection: Upgrade', 'Upgrade: foo']),
      'to websocket that the upstream refuses': answered('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno'),
      'to websocket that the upstream refuses in chunks': answered(
        'HTTP/1.1 403 Forbidden\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n',
      ),
      'to websocket that the upstream refuses with 204': answered('HTTP/1.1 204 No Content\r\n\r\n'),
      'to websocket that the upstream refuses with 204 and a length': answered(
        'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n',
      ),
      'to websocket that the upstream refuses with 204 and a body': answered(
        'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello',
      ),
      'to websocket that the upstream refuses with 304': answered(
        'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n',
      ),
      'to websocket that the upstream refuses with 304 and a body': answered(
        'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\nhello',
      ),
      'to websocket that the upstream refuses with more than its length': answered(
        'HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno, never',
      ),
      'to websocket that the upstream refuses with more than its length, in two parts': {
        ...answered(
          (to) => (
            to.send('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nn'),
            setTimeout(to.send, LATER_MS, 'o, never')
          ),
        ),
        onlyHttp1Upstream: true,
      },
      'to websocket that the upstream refuses with two responses': answered(
        'HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nnoHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      ),
      'to websocket': answered(
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      ),
      'with a bad key': ask('GET /', [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: a',
      ]),
      'without Connection': ask('GET /', ['Upgrade: websocket']),
    },
  },
  {
    name: 'upgrade turned off',
    ours: { routes: [ours({ prefix: '/' }, { upgrades: [{ websocket: { enabled: false } }] })] },
    envoy: {
      routes: [envoys({ prefix: '/' }, { upgrade_configs: [{ upgrade_type: 'websocket', enabled: false }] })],
    },
    cases: { 'is refused': HANDSHAKE },
  },
  {
    name: 'upgrade with a timeout',
    ours: { routes: [ours({ prefix: '/' }, { timeout: LIMIT })] },
    envoy: { routes: [envoys({ prefix: '/' }, { timeout: LIMIT })] },
    cases: {
      // A connection to the upstream is open before the limits count.
      'leaves a fast response': ask('GET /'),
      'of a silent upstream': answered(hang),
      // Over HTTP/2 Envoy never ends it.
      'within a response that refuses': {
        ...answered('HTTP/1.1 403 Forbidden\r\ncontent-length: 10\r\n\r\nhalf'),
        onlyHttp1Upstream: true,
      },
    },
  },
  {
    name: 'upgrade above the limit of requests',
    ours: { upstream: { circuitBreakers: { maxRequests: 0 } } },
    envoy: { cluster: { circuit_breakers: { thresholds: [{ max_requests: 0 }] } } },
    cases: { 'is refused': HANDSHAKE, 'is refused like a request': ask('GET /') },
  },
];
