import { expect } from 'chai';
import { describeParsers } from '../listen/serving.ts';
import { attackedGateway, type AttackedGateway } from './gateway.ts';

const HOST = 'ERR_ROUTING_BAD_HOST';
const REQUEST = 'ERR_ROUTING_BAD_REQUEST';
const METHOD = 'ERR_ROUTING_METHOD_NOT_ALLOWED';
const DUPLICATE = 'ERR_ROUTING_DUPLICATE_HEADER';

type Case = readonly [name: string, bytes: string | readonly string[], status: number, code: string];

const get = (target: string, ...headers: string[]): string =>
  `GET ${target} HTTP/1.1\r\n${['Host: a', ...headers].join('\r\n')}\r\n\r\n`;
const host = (value: string): string => `GET / HTTP/1.1\r\nHost:${value}\r\n\r\n`;
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `X-${i}: 1`);

const CASES: readonly Case[] = [
  ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, HOST],
  ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, HOST],
  ['two equal Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n', 400, HOST],
  ['Host with userinfo', host(' a@evil'), 400, HOST],
  ['Host with a path', host(' a/evil'), 400, HOST],
  ['Host with a query', host(' a?x'), 400, HOST],
  ['Host with a space', host(' a b'), 400, HOST],
  ['Host with a comma', host(' a,b'), 400, HOST],
  ['Host with a backslash', host(' a\\b'), 400, HOST],
  ['Host with a percent escape', host(' a%2eb'), 400, HOST],
  ['Host with a bad port', host(' a:x'), 400, HOST],
  ['Host with a port out of range', host(' a:65536'), 400, HOST],
  ['Host with an empty port', host(' a:'), 400, HOST],
  ['Host with two ports', host(' a:80:80'), 400, HOST],
  ['Host with an open bracket', host(' [::1'), 400, HOST],
  ['Host with bytes above 0x7f', host(' \xe4'), 400, HOST],
  ['empty Host', host(''), 400, HOST],
  ['absolute target with another host', get('http://evil.example/x'), 400, HOST],
  ['absolute target with another port', get('http://a:81/x'), 400, HOST],
  ['absolute target with userinfo', get('http://a@evil/x'), 400, HOST],
  ['absolute target of another scheme', get('ftp://a/x'), 400, 'ERR_ROUTING_BAD_TARGET'],
  ['target * of a GET', get('*'), 400, 'ERR_ROUTING_BAD_TARGET'],
  ['target of 9 KiB', get(`/${'a'.repeat(9_216)}`), 414, 'ERR_ROUTING_TARGET_TOO_LONG'],
  ['target of 20 KiB', get(`/${'a'.repeat(20_480)}`), 414, 'ERR_ROUTING_TARGET_TOO_LONG'],
  ['target of 60 KiB', get(`/${'a'.repeat(61_440)}`), 414, 'ERR_ROUTING_TARGET_TOO_LONG'],
  ['head of 17 KiB', get('/', `X: ${'a'.repeat(17_408)}`), 431, 'ERR_ROUTING_HEAD_TOO_LARGE'],
  [
    'head of 17 KiB in many headers',
    get('/', ...many(99).map((line) => line + 'a'.repeat(170))),
    431,
    'ERR_ROUTING_HEAD_TOO_LARGE',
  ],
  ['head of 100 KiB', get('/', `X: ${'a'.repeat(102_400)}`), 431, 'ERR_ROUTING_HEAD_TOO_LARGE'],
  ['101 headers', get('/', ...many(100)), 431, 'ERR_ROUTING_TOO_MANY_HEADERS'],
  ['500 headers', get('/', ...many(499)), 431, 'ERR_ROUTING_TOO_MANY_HEADERS'],
  [
    'a hidden Transfer-Encoding behind 101 headers',
    get('/', ...many(100), 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    431,
    'ERR_ROUTING_TOO_MANY_HEADERS',
  ],
  ['HTTP/0.9', 'GET /\r\n\r\n', 400, REQUEST],
  ['HTTP/0.9 with headers', 'GET /\r\nHost: a\r\n\r\n', 400, REQUEST],
  ['HTTP/2.0 in text', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n', 505, 'ERR_ROUTING_VERSION'],
  ['HTTP/1.2', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n', 505, 'ERR_ROUTING_VERSION'],
  ['a cut HTTP/2 preface', 'PRI * HTTP/2.0\r\nHost: a\r\n\r\n', 400, REQUEST],
  ['HTTP/1.10', 'GET / HTTP/1.10\r\nHost: a\r\n\r\n', 400, REQUEST],
  ['another protocol', 'GET / ICY/1.1\r\nHost: a\r\n\r\n', 400, REQUEST],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n', 426, 'ERR_ROUTING_HTTP10'],
  ['TRACE', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n', 405, METHOD],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 405, METHOD],
  ['a method that no standard registers', 'SOURCE / HTTP/1.1\r\nHost: a\r\n\r\n', 405, METHOD],
  ['an unknown method', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'ERR_ROUTING_BAD_METHOD'],
  ['a method in small letters', 'get / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'ERR_ROUTING_BAD_METHOD'],
  ['two Authorizations', get('/', 'Authorization: a', 'Authorization: b'), 400, DUPLICATE],
  ['two Content-Types', get('/', 'Content-Type: a/b', 'content-type: c/d'), 400, DUPLICATE],
  ['unknown Expect', get('/', 'Expect: 200-ok'), 417, 'ERR_ROUTING_EXPECTATION'],
  ['Expect with a list', get('/', 'Expect: 100-continue, x'), 417, 'ERR_ROUTING_EXPECTATION'],
  ['a space in the target', get('/a b'), 400, REQUEST],
  ['a tab in the target', get('/a\tb'), 400, 'ERR_ROUTING_BAD_TARGET'],
  ['a byte above 0x7f in the target', get('/\xe4'), 400, 'ERR_ROUTING_BAD_TARGET'],
  ['NUL in the target', get('/\0'), 400, 'ERR_ROUTING_BAD_TARGET'],
  ['a relative target', get('x/y'), 400, 'ERR_ROUTING_BAD_TARGET'],
  ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'ERR_ROUTING_BAD_METHOD'],
];

describeParsers('bad request heads', () => {
  let gateway: AttackedGateway;
  before(async () => {
    gateway = await attackedGateway();
  });
  after(() => gateway.close());

  for (const [name, bytes, status, code] of CASES) {
    it(`rejects ${name} with ${status} and sends nothing upstream`, async () => {
      await gateway.refuses(bytes, status, code);
    });
  }

  for (const [name, target] of [
    ['fragment in the target', '/admin#/public'],
    ['%00', '/a%00b'],
    ['invalid percent', '/a%zzb'],
    ['overlong UTF-8', '/a%c0%afb'],
    ['backslash', '/a\\b'],
    ['backslash behind dot segments', '/a/..\\..\\b'],
    ['double-encoded dot segments', '/a/%252e%252e/b'],
    ['dot segments behind an escaped slash', '/a/..%2f..%2fb'],
    ['encoded dot segments behind an escaped slash', '/a/%2e%2e%2fb'],
    ['dot segments with parameters', '/a/..;x/b'],
    ['an absolute target with double-encoded dot segments', 'http://a/x/%252e%252e/b'],
  ] as const) {
    it(`rejects ${name} with 400 and sends nothing upstream`, async () => {
      const { answer, upstream } = await gateway.passes(get(target, 'Connection: close'));
      expect(answer.statuses, answer.text).to.deep.equal([400]);
      expect(answer.json.code).to.match(/^ERR_ROUTING_/);
      expect(upstream).to.equal('');
    });
  }

  for (const [name, target, path] of [
    ['//host', '//evil/x?y=//z', '//evil/x?y=//z'],
    ['raw dot segments', '/a/../b?c=/../d', '/b?c=/../d'],
    ['encoded dot segments', '/a/%2e%2E/b', '/b'],
    ['half encoded dot segments', '/a/.%2e/b', '/b'],
    ['dot segments at the end', '/a/b/..', '/a/'],
    ['dot segments above the root', '/../../a', '/a'],
    ['dot segments that leave //', '/a/..//evil/x', '//evil/x'],
    ['an absolute target with dot segments', 'http://a/x/../../b', '/b'],
    ['an absolute target with //', 'http://a//evil/x', '//evil/x'],
  ] as const) {
    it(`forwards ${name} as ${path}`, async () => {
      const { answer, upstream } = await gateway.passes(get(target, 'Connection: close'));
      expect(answer.statuses, answer.text).to.deep.equal([200]);
      expect(upstream.startsWith(`GET ${path} HTTP/1.1\r\n`), upstream).to.equal(true);
      expect(upstream).not.to.match(/\r\nx-envoy-original-path:/i);
    });
  }

  it('responds to OPTIONS * itself', async () => {
    const { answer, upstream } = await gateway.passes('OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(answer.statuses).to.deep.equal([204]);
    expect(answer.text).to.match(/\r\nallow: /i);
    expect(upstream).to.equal('');
  });

  it('sends an absolute target with the right host upstream in origin form', async () => {
    const { answer, upstream } = await gateway.passes(get('http://A/x?y=1', 'Connection: close'));
    expect(answer.statuses).to.deep.equal([200]);
    expect(upstream.startsWith('GET /x?y=1 HTTP/1.1\r\n')).to.equal(true);
    expect(upstream.match(/\r\nhost: /gi)).to.have.length(1);
  });

  it('ignores an upgrade to h2c and serves the request as HTTP/1.1', async () => {
    const { answer, upstream } = await gateway.passes([
      get('/x', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
      get('/y', 'Connection: close'),
    ]);
    expect(answer.statuses).to.deep.equal([200, 200]);
    expect(upstream).not.to.match(/\r\n(?:upgrade|http2-settings):/i);
  });

  it('strips what Connection names, and the hop-by-hop headers', async () => {
    const { upstream } = await gateway.passes(
      get(
        '/x',
        'Connection: close, X-Secret',
        'X-Secret: 1',
        'Keep-Alive: 1',
        'Proxy-Authorization: x',
        'TE: gzip',
        'X-Kept: 1',
      ),
    );
    expect(upstream).to.match(/\r\nx-kept: 1\r\n/i);
    expect(upstream).not.to.match(/\r\n(?:x-secret|keep-alive|proxy-authorization|te):/i);
  });

  it('passes TE: trailers on, and keeps the connection to the upstream', async () => {
    const te = get('/x', 'TE: gzip, trailers', 'Connection: TE');
    const { answer, upstream } = await gateway.passes([te, get('/y', 'TE: trailers', 'Connection: TE, close')]);
    expect(answer.statuses).to.deep.equal([200, 200]);
    expect(upstream.match(/\r\nte: trailers\r\nconnection: TE\r\n/g)).to.have.length(2);
    expect(upstream).not.to.match(/gzip/);
  });

  it('does not lose the framing of a request whose Connection names it', async () => {
    const { answer, upstream } = await gateway.passes(
      'POST /x HTTP/1.1\r\nHost: a\r\nConnection: close, content-length, host\r\nContent-Length: 5\r\n\r\nabcde',
    );
    if (answer.statuses[0] === 200) {
      expect(upstream)
        .to.match(/\r\ncontent-length: 5\r\n/i)
        .and.to.match(/\r\nhost: a\r\n/i);
    } else expect(upstream).to.equal('');
  });

  it('replaces forwarded headers of the client', async () => {
    const { upstream } = await gateway.passes(
      get(
        '/x',
        'Connection: close',
        'X-Forwarded-For: 6.6.6.6',
        'X-Forwarded-Proto: https',
        'X-Envoy-Original-Path: /evil',
        'X_Forwarded_For: 6.6.6.6',
      ),
    );
    expect(upstream).to.match(/\r\nx-forwarded-proto: http\r\n/i);
    expect(upstream).not.to.match(/\r\nx_forwarded_for:|\r\nx-envoy-original-path:/i);
  });

  it('accepts blank lines before a request, and bytes above 0x7f in a value', async () => {
    const { answer, upstream } = await gateway.passes(`\r\n\r\n${get('/x', 'Connection: close', 'X: \x80\xff')}`);
    expect(answer.statuses).to.deep.equal([200]);
    expect(upstream).to.match(/\r\nx: \x80\xff\r\n/i);
  });

  it('serves pipelined requests in order', async () => {
    const { answer } = await gateway.passes(get('/1') + get('/2') + get('/3', 'Connection: close'));
    expect(answer.statuses).to.deep.equal([200, 200, 200]);
  });
});

describeParsers('bad request heads under settings of the listener', () => {
  let gateway: AttackedGateway;
  before(async () => {
    gateway = await attackedGateway({
      listener: {
        httpOptions: {
          httpConnectionManagerSettings: {
            acceptHttp10: true,
            normalizePath: false,
            defaultHostForHttp10: 'fallback.example',
            maxRequestHeadersKb: 32,
            maxHeadersCount: 20,
            headersWithUnderscoresAction: 'REJECT_CLIENT_REQUEST',
          },
          headerValidationSettings: { disableHttp1MethodValidation: {} },
        },
      },
      limits: { maxBodyBytes: 10 },
    });
  });
  after(() => gateway.close());

  it('rejects dot segments without normalizePath', async () => {
    for (const target of ['/a/../b', '/a/%2e%2e/b', '/..']) {
      const { answer, upstream } = await gateway.passes(get(target, 'Connection: close'));
      expect([answer.statuses, answer.json.code, upstream]).to.deep.equal([[400], 'ERR_ROUTING_DOT_SEGMENT', '']);
    }
  });

  it('serves HTTP/1.0 with the default host', async () => {
    const { answer, upstream } = await gateway.passes('GET /x HTTP/1.0\r\n\r\n');
    expect(answer.statuses).to.deep.equal([200]);
    expect(upstream).to.match(/\r\nhost: fallback\.example\r\n/i);
  });

  it('rejects Transfer-Encoding in HTTP/1.0 too', async () => {
    const raw = 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    await gateway.refuses(raw, 400, 'ERR_ROUTING_BAD_FRAMING');
  });

  it('accepts a head of 20 KiB, rejects one of 33 KiB', async () => {
    const { answer } = await gateway.passes(get('/', 'Connection: close', `X: ${'a'.repeat(20_480)}`));
    expect(answer.statuses).to.deep.equal([200]);
    await gateway.refuses(get('/', `X: ${'a'.repeat(33_792)}`), 431, 'ERR_ROUTING_HEAD_TOO_LARGE');
  });

  it('rejects 21 headers', () => gateway.refuses(get('/', ...many(20)), 431, 'ERR_ROUTING_TOO_MANY_HEADERS'));

  it('rejects a name with an underscore', () => gateway.refuses(get('/', 'x_y: 1'), 400, 'ERR_ROUTING_UNDERSCORE'));

  it('serves a method that no standard registers, but neither CONNECT nor TRACE', async () => {
    const { answer } = await gateway.passes('PURGE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(answer.statuses).to.deep.equal([200]);
    await gateway.refuses('TRACE / HTTP/1.1\r\nHost: a\r\n\r\n', 405, METHOD);
  });

  it('rejects a body whose Content-Length is too large', async () => {
    const raw = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nabcdefghijk';
    await gateway.refuses(raw, 413, 'ERR_ROUTING_BODY_TOO_LARGE');
  });

  it('rejects a chunked body that is too large', async () => {
    const raw =
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nabcdefghijk\r\n0\r\n\r\n';
    await gateway.refuses(raw, 413, 'ERR_ROUTING_BODY_TOO_LARGE');
  });

  it('aborts the upstream request when a body becomes too large', async () => {
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n';
    const { answer, upstream } = await gateway.passes([head, '6\r\nfghijk\r\n', '0\r\n\r\n']);
    expect(answer.statuses).to.deep.equal([413]);
    expect(upstream).not.to.include('\r\n0\r\n');
  });
});

describeParsers('bodies above the limit of a listener that buffers', () => {
  let gateway: AttackedGateway;
  before(async () => {
    gateway = await attackedGateway({ listener: { httpOptions: { buffer: { maxRequestBytes: 10 } } } });
  });
  after(() => gateway.close());

  for (const [name, raw] of [
    ['by Content-Length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\nabcdefghijk'],
    [
      'in chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nabcdefghijk\r\n0\r\n\r\n',
    ],
  ] as const)
    it(`rejects one ${name} before the upstream is contacted`, async () => {
      const { answer, upstream } = await gateway.passes(raw);
      expect([answer.statuses, upstream]).to.deep.equal([[413], '']);
    });
});
