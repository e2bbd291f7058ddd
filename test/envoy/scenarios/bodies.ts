import { ask, envoys, ours, post, reply, type Group } from '../scenario.ts';

const chunked = (...chunks: string[]): string =>
  [...chunks, ''].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}${chunk && '\r\n'}`).join('') + '\r\n';
const CHUNKED = 'transfer-encoding: chunked';
const raw = (status: string, headers: readonly string[], body = ''): string =>
  `${[`HTTP/1.1 ${status}`, ...headers].join('\r\n')}\r\n\r\n${body}`;

export const bodies: readonly Group[] = [
  {
    name: 'request body',
    cases: {
      'with a length': post('/', 'hello'),
      'in chunks': ask('POST /', [CHUNKED], chunked('he', 'llo')),
      'in no chunk': ask('POST /', [CHUNKED], chunked()),
      'of length 0': post('/', ''),
      'of a POST without length': ask('POST /'),
      'of GET': post('/', 'hello', [], 'GET'),
      'of DELETE': post('/', 'hello', [], 'DELETE'),
      'of PATCH': post('/', 'hello', [], 'PATCH'),
      'with chunk extensions': ask('POST /', [CHUNKED], '5;a=b\r\nhello\r\n0\r\n\r\n'),
      'with upper-case Chunked': ask('POST /', ['Transfer-Encoding: Chunked'], chunked('hello')),
      'with trailers': ask('POST /', [CHUNKED, 'Trailer: x-a'], '5\r\nhello\r\n0\r\nX-A: 1\r\n\r\n'),
      'after 100 Continue': [ask('POST /', ['Expect: 100-continue', 'Content-Length: 5']), 'hello'],
      'with Expect and a body at once': post('/', 'hello', ['Expect: 100-continue']),
      'of 100 kB': post('/', 'x'.repeat(100_000)),
    },
  },
  {
    name: 'response body',
    cases: {
      'in chunks': { request: ask('GET /'), upstream: [raw('200 OK', [CHUNKED], chunked('he', 'llo'))] },
      'until the connection closes': {
        request: ask('GET /'),
        upstream: [(to) => (to.send(raw('200 OK', ['connection: close'], 'hello')), to.end())],
      },
      'until the connection closes to HTTP/1.1 with close': {
        request: ask('GET /', ['Connection: close']),
        upstream: [(to) => (to.send(raw('200 OK', [], 'hello')), to.end())],
      },
      'to HEAD with a length': { request: ask('HEAD /'), upstream: [raw('200 OK', ['content-length: 5'])] },
      'to HEAD in chunks': { request: ask('HEAD /'), upstream: [raw('200 OK', [CHUNKED])] },
      'to HEAD without length': { request: ask('HEAD /'), upstream: [raw('200 OK', [])] },
      'of 204': { request: ask('GET /'), upstream: [raw('204 No Content', [])] },
      'of 204 with length 0': { request: ask('GET /'), upstream: [raw('204 No Content', ['content-length: 0'])] },
      'of 304': { request: ask('GET /'), upstream: [raw('304 Not Modified', ['etag: "a"'])] },
      'of 304 with a length': { request: ask('GET /'), upstream: [raw('304 Not Modified', ['content-length: 5'])] },
      'of 205': { request: ask('GET /'), upstream: [reply('205 Reset Content')] },
      'of 500': { request: ask('GET /'), upstream: [reply('500 Oops', [], 'broken')] },
      'with an unknown status': { request: ask('GET /'), upstream: [reply('299 Odd Reason', [], 'a')] },
      'with an unknown reason': { request: ask('GET /'), upstream: [reply('200 Fine', [], 'a')] },
      'of OPTIONS': { request: ask('OPTIONS /a'), upstream: [reply('200 OK', ['allow: GET'])] },
      'with trailers': {
        request: ask('GET /'),
        upstream: [raw('200 OK', [CHUNKED], '5\r\nhello\r\n0\r\nx-t: 1\r\n\r\n')],
      },
      'with trailers for a client that asks for them': {
        request: ask('GET /', ['TE: trailers']),
        upstream: [raw('200 OK', [CHUNKED, 'trailer: x-t'], '5\r\nhello\r\n0\r\nx-t: 1\r\n\r\n')],
      },
      'of 100 kB': { request: ask('GET /'), upstream: [reply('200 OK', [], 'x'.repeat(100_000))] },
      'to HTTP/1.0': { request: 'GET / HTTP/1.0\r\nHost: $host\r\n\r\n' },
    },
  },
  {
    name: 'interim response',
    cases: {
      '100 of the upstream': { request: ask('GET /'), upstream: [raw('100 Continue', []) + reply('200 OK', [], 'a')] },
      '102': { request: ask('GET /'), upstream: [raw('102 Processing', []) + reply('200 OK', [], 'a')] },
      '103': { request: ask('GET /'), upstream: [raw('103 Early Hints', ['link: </a>']) + reply('200 OK', [], 'a')] },
      'two of them': {
        request: ask('GET /'),
        upstream: [
          raw('103 Early Hints', ['link: </a>']) + raw('103 Early Hints', ['link: </b>']) + reply('200 OK', [], 'a'),
        ],
      },
    },
  },
  {
    name: 'connection',
    cases: {
      'serves two requests': [ask('GET /a'), ask('GET /b')],
      'serves a request after a body': [post('/a', 'hello'), ask('GET /b')],
      'closes after Connection: close': { request: [ask('GET /a', ['Connection: close'])] },
      'keeps with Connection: keep-alive': [ask('GET /a', ['Connection: keep-alive']), ask('GET /b')],
      'keeps the client when the upstream closes': {
        request: [ask('GET /a'), ask('GET /b')],
        upstream: [(to) => (to.send(reply('200 OK', ['connection: close'], 'a')), to.end()), reply('200 OK', [], 'b')],
      },
      'is retried when the upstream resets a reused one': {
        request: [ask('GET /a'), ask('GET /b')],
        upstream: [reply('200 OK', [], 'a'), (to) => to.reset(), reply('200 OK', [], 'b')],
      },
      'begins with empty lines': `\r\n${ask('GET /a')}`,
      'ends after the request, without a response': { request: ask('GET /a'), end: true },
      'ends after the request, with a response that comes later': {
        request: ask('GET /a'),
        upstream: [(to) => void setTimeout(to.send, 100, reply('200 OK', [], 'late'))],
        end: true,
      },
      'ends after the body, with a response that comes later': {
        request: post('/a', 'hello'),
        upstream: [(to) => void setTimeout(to.send, 100, reply('200 OK', [], 'late'))],
        end: true,
      },
      'ends within the response': {
        request: ask('GET /a'),
        upstream: [(to) => (to.send('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nla'), setTimeout(to.send, 100, 'te'))],
        end: true,
      },
    },
  },
  {
    name: 'connection after a direct response',
    ours: { routes: [{ matchers: [{ prefix: '/d' }], directResponseAction: { status: 200, body: 'd' } }, ours()] },
    envoy: {
      routes: [{ match: { prefix: '/d' }, direct_response: { status: 200, body: { inline_string: 'd' } } }, envoys()],
    },
    cases: { 'serves another request': [ask('GET /d'), ask('GET /b')] },
  },
];
