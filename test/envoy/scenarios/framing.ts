import { ask, askRaw, type Group } from '../scenario.ts';

const lines = (...headers: string[]): string => ask('POST /', headers, '0\r\n\r\n');

export const framing: readonly Group[] = [
  {
    name: 'framing',
    cases: {
      'Content-Length with Transfer-Encoding': ask(
        'POST /',
        ['Content-Length: 5', 'Transfer-Encoding: chunked'],
        '0\r\n\r\n',
      ),
      'two Transfer-Encoding': lines('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'),
      'Transfer-Encoding: gzip, chunked': lines('Transfer-Encoding: gzip, chunked'),
      'Transfer-Encoding: identity, chunked': lines('Transfer-Encoding: identity, chunked'),
      'Transfer-Encoding: ,chunked': lines('Transfer-Encoding: ,chunked'),
      'Transfer-Encoding: xchunked': lines('Transfer-Encoding: xchunked'),
      'Transfer-Encoding: identity': lines('Transfer-Encoding: identity'),
      'two equal Content-Length': ask('POST /', ['Content-Length: 2', 'Content-Length: 2'], 'ok'),
      'two different Content-Length': ask('POST /', ['Content-Length: 2', 'Content-Length: 3'], 'ok!'),
      'Content-Length list': ask('POST /', ['Content-Length: 2, 2'], 'ok'),
      'Content-Length with a sign': ask('POST /', ['Content-Length: +2'], 'ok'),
      'Content-Length hexadecimal': ask('POST /', ['Content-Length: 0x2'], 'ok'),
      'Content-Length empty': ask('POST /', ['Content-Length:'], ''),
      'Content-Length overflow': ask('POST /', ['Content-Length: 18446744073709551616'], ''),
      'chunk size with a sign': ask('POST /', ['Transfer-Encoding: chunked'], '+5\r\nhello\r\n0\r\n\r\n'),
      'chunk size with 0x': ask('POST /', ['Transfer-Encoding: chunked'], '0x5\r\nhello\r\n0\r\n\r\n'),
      'chunk size overflow': ask('POST /', ['Transfer-Encoding: chunked'], 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n'),
      'chunk with a bare LF': ask('POST /', ['Transfer-Encoding: chunked'], '5\nhello\r\n0\r\n\r\n'),
      'chunk longer than its size': ask('POST /', ['Transfer-Encoding: chunked'], '4\r\nhello\r\n0\r\n\r\n'),
      'trailer of framing': ask('POST /', ['Transfer-Encoding: chunked'], '0\r\nContent-Length: 5\r\n\r\n'),
      'TE on HTTP/1.0': 'POST / HTTP/1.0\r\nHost: $host\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'Expect of something else': ask('GET /', ['Expect: 200-ok']),
    },
  },
  {
    name: 'head',
    cases: {
      'without Host': 'GET / HTTP/1.1\r\nAccept: a\r\n\r\n',
      'with an empty Host': 'GET / HTTP/1.1\r\nHost:\r\n\r\n',
      'with two Hosts': askRaw(['GET / HTTP/1.1', 'Host: $host', 'Host: other.example']),
      'with two equal Hosts': askRaw(['GET / HTTP/1.1', 'Host: $host', 'Host: $host']),
      'with a user in Host': askRaw(['GET / HTTP/1.1', 'Host: a@$host']),
      'with a path in Host': askRaw(['GET / HTTP/1.1', 'Host: $host/a']),
      'with a space in Host': askRaw(['GET / HTTP/1.1', 'Host: $host a']),
      'with bare LF': 'GET / HTTP/1.1\nHost: $host\n\n',
      'with a bare CR in a value': ask('GET /', ['X-A: a\rb']),
      'with NUL in a value': ask('GET /', ['X-A: a\0b']),
      'with a folded line': ask('GET /', ['X-A: a\r\n b']),
      'with a space before the colon': ask('GET /', ['X-A : a']),
      'with an empty name': ask('GET /', [': a']),
      'without colon': ask('GET /', ['X-A']),
      'with a non-token name': ask('GET /', ['X(A): a']),
      'with a leading space': ask('GET /', [' X-A: a']),
      'of HTTP/0.9': 'GET /\r\n\r\n',
      'of HTTP/2.0 in text': 'GET / HTTP/2.0\r\nHost: $host\r\n\r\n',
      'of HTTP/1.2': 'GET / HTTP/1.2\r\nHost: $host\r\n\r\n',
      'of HTTP/1.0': 'GET / HTTP/1.0\r\nHost: $host\r\n\r\n',
      'with an unknown method': ask('PURGE /'),
      'with a lower-case method': ask('get /'),
      'with a custom method': ask('FOO /'),
      'of TRACE': ask('TRACE /'),
      'of CONNECT': 'CONNECT $host:443 HTTP/1.1\r\nHost: $host:443\r\n\r\n',
      'with a target without slash': ask('GET a'),
      'with a space in the target': ask('GET /a b'),
      'with an empty target': 'GET  HTTP/1.1\r\nHost: $host\r\n\r\n',
      'with a UTF-8 target': ask('GET /\xc3\xa9'),
      'with a long target': ask(`GET /${'a'.repeat(9000)}`),
      'larger than 16 KiB': ask('GET /', [`X-A: ${'a'.repeat(20_000)}`]),
      'larger than 60 KiB': ask('GET /', [`X-A: ${'a'.repeat(70_000)}`]),
      'with more than 100 headers': ask(
        'GET /',
        Array.from({ length: 120 }, (_, i) => `X-${i}: a`),
      ),
    },
  },
  {
    name: 'HTTP/1.0',
    ours: {
      listener: { httpConnectionManagerSettings: { acceptHttp10: true, defaultHostForHttp10: 'default.example' } },
      virtualHost: { domains: ['$host', 'default.example'] },
    },
    envoy: {
      manager: { http_protocol_options: { accept_http_10: true, default_host_for_http_10: 'default.example' } },
      virtualHost: { domains: ['$host', 'default.example'] },
    },
    cases: {
      'is served and closed': 'GET /a HTTP/1.0\r\nHost: $host\r\n\r\n',
      'without Host gets the default': 'GET /a HTTP/1.0\r\n\r\n',
      'with keep-alive': 'GET /a HTTP/1.0\r\nHost: $host\r\nConnection: keep-alive\r\n\r\n',
      'with a body': 'POST /a HTTP/1.0\r\nHost: $host\r\nContent-Length: 2\r\n\r\nhi',
      'gets no chunks': {
        request: 'GET /a HTTP/1.0\r\nHost: $host\r\n\r\n',
        upstream: ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n'],
      },
    },
  },
  {
    name: 'upgrade',
    cases: {
      'to h2c is ignored': ask('GET /', [
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQAAP__',
      ]),
      'to an unknown protocol': ask('GET /', ['Connection: Upgrade', 'Upgrade: foo']),
      'to websocket that the upstream refuses': {
        request: ask('GET /', [
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        ]),
        upstream: ['HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno'],
      },
      'to websocket': {
        request: ask('GET /', [
          'Connection: Upgrade',
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        ]),
        upstream: [
          'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
        ],
      },
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
    ours: {
      routes: [
        {
          matchers: [{ prefix: '/' }],
          routeAction: { single: { upstream: { name: '$up' } } },
          options: { upgrades: [{ websocket: { enabled: false } }] },
        },
      ],
    },
    envoy: {
      routes: [
        {
          match: { prefix: '/' },
          route: { cluster: '$up', upgrade_configs: [{ upgrade_type: 'websocket', enabled: false }] },
        },
      ],
    },
    cases: {
      'is refused': ask('GET /', [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ]),
    },
  },
];
