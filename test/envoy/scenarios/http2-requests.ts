import type { Field } from '../../../packages/routing/test/listen/http2/hpack.ts';
import { call, calls, leave, pseudo } from '../http2/calls.ts';
import { envoys, envoyType, ours, reply, type Case, type Group } from '../scenario.ts';

/** A GET with these fields. */
const get = (...fields: Field[]) => call({ fields });
const withPseudo = (changed: Readonly<Record<string, string | undefined>>) => call({ pseudo: pseudo(changed) });
const post = (body: string, ...fields: Field[]) => call({ method: 'POST', body, fields });
const filler = (count: number, length: number): Field[] =>
  Array.from({ length: count }, (_, i): Field => [`x-${i}`, 'a'.repeat(length)]);
const waiting = (code: number): Case => ({ request: leave(code), upstream: [() => {}], received: 1, resets: true });

export const http2Requests: readonly Group[] = [
  {
    name: 'HTTP/2 request',
    cases: {
      'without a body': get(['x-a', '1']),
      'with a body': post('hello'),
      'with a body and its length': post('hello', ['content-length', '5']),
      'with an empty body': call({ method: 'POST', body: '', fields: [['content-length', '0']] }),
      'of several on a connection': calls({ path: '/a' }, { path: '/b', method: 'POST', body: 'x' }, { path: '/c' }),
      'with HEAD': { request: call({ method: 'HEAD' }), upstream: [reply('200 OK', ['x-a: 1'], '')] },
      'whose response is 204': { request: post('x'), upstream: ['HTTP/1.1 204 No Content\r\nx-a: 1\r\n\r\n'] },
      'whose response is 304': { request: get(), upstream: ['HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n'] },
    },
  },
  {
    name: 'HTTP/2 authority',
    cases: {
      'in host alone': call({ pseudo: pseudo({ ':authority': undefined }), fields: [['host', '$host']] }),
      'equal to host': get(['host', '$host']),
      'other than host': get(['host', 'other.example']),
      'with two hosts': call({
        pseudo: pseudo({ ':authority': undefined }),
        fields: [
          ['host', '$host'],
          ['host', 'b'],
        ],
      }),
      'with a port': withPseudo({ ':authority': '$host:80' }),
      'with a user': withPseudo({ ':authority': 'a@$host' }),
      'with a path': withPseudo({ ':authority': '$host/a' }),
      'that is empty': withPseudo({ ':authority': '' }),
      'that is missing': withPseudo({ ':authority': undefined }),
    },
  },
  {
    name: 'HTTP/2 pseudo-headers',
    cases: {
      'without method': withPseudo({ ':method': undefined }),
      'without scheme': withPseudo({ ':scheme': undefined }),
      'without path': withPseudo({ ':path': undefined }),
      'with an empty path': withPseudo({ ':path': '' }),
      'with an empty method': withPseudo({ ':method': '' }),
      'with a path without a slash': withPseudo({ ':path': 'a' }),
      'with an absolute path': withPseudo({ ':path': 'http://$host/a' }),
      'with a path that begins with two slashes': withPseudo({ ':path': '//other.example/a' }),
      'with a star and GET': withPseudo({ ':path': '*' }),
      'with a star and OPTIONS': withPseudo({ ':path': '*', ':method': 'OPTIONS' }),
      'with a space in the path': withPseudo({ ':path': '/a b' }),
      'with a line break in the path': withPseudo({ ':path': '/a HTTP/1.1\r\nx-b: 1\r\n\r\n' }),
      'with NUL in the path': withPseudo({ ':path': '/a\0b' }),
      'with a fragment': withPseudo({ ':path': '/a#b' }),
      'with a space in the method': withPseudo({ ':method': 'GET /b' }),
      'with a line break in the method': withPseudo({ ':method': 'GET /b HTTP/1.1\r\n' }),
      'with another scheme': withPseudo({ ':scheme': 'https' }),
      'with an unknown scheme': withPseudo({ ':scheme': 'ftp' }),
      'with an unknown one': withPseudo({ ':other': '1' }),
      'with one of responses': withPseudo({ ':status': '200' }),
      'with two paths': call({ pseudo: [...pseudo(), [':path', '/b']] }),
      'with two methods': call({ pseudo: [...pseudo(), [':method', 'POST']] }),
      'with two authorities': call({ pseudo: [...pseudo(), [':authority', 'b']] }),
      'behind a header': call({ pseudo: [['x-a', '1'], ...pseudo()] }),
      'with a protocol but without CONNECT': withPseudo({ ':protocol': 'websocket' }),
      'of TRACE': withPseudo({ ':method': 'TRACE' }),
    },
  },
  {
    name: 'HTTP/2 headers',
    cases: {
      'cookies in parts': get(['cookie', 'a=1'], ['x-a', '1'], ['cookie', 'b=2'], ['cookie', 'c=3']),
      'te: trailers': get(['te', 'trailers']),
      'te: gzip': get(['te', 'gzip']),
      'te: trailers, gzip': get(['te', 'trailers, gzip']),
      'connection: close': get(['connection', 'close']),
      'connection that names a header': get(['connection', 'x-a'], ['x-a', '1']),
      'keep-alive': get(['keep-alive', 'timeout=5']),
      'proxy-connection': get(['proxy-connection', 'close']),
      upgrade: get(['upgrade', 'websocket']),
      'upgrade to h2c': get(['upgrade', 'h2c'], ['http2-settings', 'AAA']),
      'transfer-encoding': post('hello', ['transfer-encoding', 'chunked']),
      'transfer-encoding: identity': post('hello', ['transfer-encoding', 'identity']),
      'a name with capitals': get(['X-A', '1']),
      'an empty name': get(['', '1']),
      'a name with a space': get(['x a', '1']),
      'a name with a colon': get(['x:a', '1']),
      'a name with a line break': get(['x\r\ny', '1']),
      'a name with a byte above 0x7f': get(['x\xe9', '1']),
      'a value with CR LF': get(['x-a', '1\r\nx-b: 2']),
      'a value with LF': get(['x-a', '1\nx-b: 2']),
      'a value with CR': get(['x-a', '1\rx']),
      'a value with NUL': get(['x-a', '1\0']),
      'a value with a control character': get(['x-a', '1\x01']),
      'a value with DEL': get(['x-a', '1\x7f']),
      'a value with a tab': get(['x-a', '1\t2']),
      'a value with a byte above 0x7f': get(['x-a', '\xe9']),
      'a value with spaces around it': get(['x-a', ' 1 ']),
      'an empty value': get(['x-a', '']),
      'identity in other spellings': get(['x_forwarded_for', '1.2.3.4'], ['x-forwarded-for', '1.2.3.4']),
      'two authorizations': get(['authorization', 'a'], ['authorization', 'b']),
      'an unknown expectation': get(['expect', '200-ok']),
    },
  },
  {
    name: 'HTTP/2 header list',
    cases: {
      'of 15 KiB': get(...filler(10, 1_500)),
      'of 20 KiB': get(...filler(14, 1_500)),
      'of 70 KiB': get(...filler(47, 1_500)),
      'with one large value': get(['x-a', 'a'.repeat(20_000)]),
      'of 100 headers': get(...filler(95, 1)),
      'of 150 headers': get(...filler(150, 1)),
      'of 1,000 headers': get(...filler(1_000, 1)),
      'with a path of 9 kB': withPseudo({ ':path': `/${'a'.repeat(9_000)}` }),
    },
  },
  {
    name: 'HTTP/2 body',
    cases: {
      'longer than its length': post('hello!', ['content-length', '5']),
      'shorter than its length': post('hell', ['content-length', '5']),
      'that is missing': get(['content-length', '5']),
      'with two equal lengths': post('hello', ['content-length', '5'], ['content-length', '5']),
      'with two lengths': post('hello', ['content-length', '5'], ['content-length', '6']),
      'with a signed length': post('hello', ['content-length', '+5']),
      'with a hexadecimal length': post('hello', ['content-length', '0x5']),
      'with a negative length': post('hello', ['content-length', '-5']),
      'with a list of lengths': post('hello', ['content-length', '5, 5']),
      'with an empty length': post('hello', ['content-length', '']),
      'with a length that overflows': post('hello', ['content-length', '18446744073709551621']),
      'of GET': call({ body: 'hello' }),
      'with trailers': call({
        method: 'POST',
        body: 'hello',
        trailers: [
          ['x-t', '1'],
          ['x-u', '2'],
        ],
      }),
      'with trailers without a body': call({ method: 'POST', trailers: [['x-t', '1']] }),
      'with a pseudo-header in trailers': call({ method: 'POST', body: 'x', trailers: [[':path', '/b']] }),
      'with a length in trailers': call({ method: 'POST', body: 'x', trailers: [['content-length', '1']] }),
      'with a host in trailers': call({ method: 'POST', body: 'x', trailers: [['host', 'b']] }),
      'with transfer-encoding in trailers': call({
        method: 'POST',
        body: 'x',
        trailers: [['transfer-encoding', 'chunked']],
      }),
      'with an authorization in trailers': call({ method: 'POST', body: 'x', trailers: [['authorization', 'a']] }),
      'with x-forwarded-for in trailers': call({
        method: 'POST',
        body: 'x',
        trailers: [['x-forwarded-for', '1.2.3.4']],
      }),
    },
  },
  {
    name: 'HTTP/2 upload above the limit',
    ours: { listener: { buffer: { maxRequestBytes: 10 } } },
    envoy: {
      filters: [
        {
          name: 'envoy.filters.http.buffer',
          typed_config: { ...envoyType('filters.http.buffer.v3.Buffer'), max_request_bytes: 10 },
        },
      ],
    },
    cases: {
      'gets its response before it ends': call({ method: 'POST', body: 'x'.repeat(100), isOpen: true }),
      'leaves the connection to others': calls({ method: 'POST', body: 'x'.repeat(100), isOpen: true }, { path: '/b' }),
    },
  },
  {
    name: 'HTTP/2 direct response',
    ours: { routes: [{ matchers: [{ prefix: '/' }], directResponseAction: { status: 200, body: 'ok' } }] },
    envoy: { routes: [{ match: { prefix: '/' }, direct_response: { status: 200, body: { inline_string: 'ok' } } }] },
    cases: {
      'stops an upload': calls({ method: 'POST', body: 'x', isOpen: true }, { path: '/b' }),
      'to HEAD': call({ method: 'HEAD' }),
    },
  },
  {
    name: 'HTTP/2 reset by the client',
    cases: {
      ...Object.fromEntries(Array.from({ length: 14 }, (_, code): [string, Case] => [`with ${code}`, waiting(code)])),
      'within the body': calls({ method: 'POST', body: 'x', isOpen: true, reset: 8 }, { path: '/b' }),
      'leaves the connection to others': {
        request: { http2: [...leave(8).http2, ...call({ path: '/b' }).http2] },
        upstream: [() => {}, reply('200 OK', [], 'ok')],
      },
    },
  },
  {
    name: 'HTTP/2 invalid messages with overrideStreamErrorOnInvalidHttpMessage',
    envoy: {
      manager: {
        http2_protocol_options: { override_stream_error_on_invalid_http_message: true },
      },
    },
    ours: {
      listener: {
        httpConnectionManagerSettings: { http2ProtocolOptions: { overrideStreamErrorOnInvalidHttpMessage: true } },
      },
    },
    cases: {
      'reset their stream': calls({ fields: [['connection', 'close']] }, { path: '/b' }),
      'with capitals': calls({ fields: [['X-A', '1']] }, { path: '/b' }),
      'with a line break': calls({ fields: [['x-a', '1\r\nx-b: 2']] }, { path: '/b' }),
    },
  },
  {
    name: 'HTTP/2 maxRequestHeadersKb',
    ours: { listener: { httpConnectionManagerSettings: { maxRequestHeadersKb: 30 } }, routes: [ours()] },
    envoy: { manager: { max_request_headers_kb: 30 }, routes: [envoys()] },
    cases: {
      'within the limit': get(...filler(14, 1_500)),
      'above the limit': get(...filler(24, 1_500)),
    },
  },
];
