import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describeParsers, open } from '../listen/serving.ts';
import { attackedGateway, type AttackedGateway } from './gateway.ts';

const POST = 'POST /x HTTP/1.1\r\nHost: a\r\n';
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const FRAMING = 'ERR_ROUTING_BAD_FRAMING';
const BODY = 'ERR_ROUTING_BAD_BODY';
const HEADER = 'ERR_ROUTING_BAD_HEADER';
const TRAILER = 'ERR_ROUTING_BAD_TRAILER';

type Case = readonly [name: string, bytes: string | readonly string[], status: number, code: string];

const coding = (value: string): string => `${POST}Transfer-Encoding: ${value}\r\n\r\n0\r\n\r\n${SMUGGLED}`;
const length = (value: string): string => `${POST}Content-Length: ${value}\r\n\r\nabcde${SMUGGLED}`;

const CASES: readonly Case[] = [
  ['CL.TE', `${POST}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG`, 400, FRAMING],
  ['TE.CL', `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`, 400, FRAMING],
  ['doubled Transfer-Encoding', coding('chunked\r\nTransfer-Encoding: chunked'), 400, FRAMING],
  ['Transfer-Encoding chunked and identity', coding('chunked\r\nTransfer-Encoding: identity'), 400, FRAMING],
  ['Transfer-Encoding identity and chunked', coding('identity\r\nTransfer-Encoding: chunked'), 400, FRAMING],
  ['Transfer-Encoding ,chunked', coding(',chunked'), 400, FRAMING],
  ['Transfer-Encoding chunked,', coding('chunked,'), 400, FRAMING],
  ['Transfer-Encoding gzip, chunked', coding('gzip, chunked'), 400, FRAMING],
  ['Transfer-Encoding identity, chunked', coding('identity, chunked'), 400, FRAMING],
  ['Transfer-Encoding chunked, chunked', coding('chunked, chunked'), 400, FRAMING],
  ['Transfer-Encoding with a vertical tab', coding('\x0bchunked'), 400, HEADER],
  ['Transfer-Encoding in quotes', coding('"chunked"'), 501, 'ERR_ROUTING_TRANSFER_ENCODING'],
  [
    'Transfer-Encoding in HTTP/1.0',
    'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    FRAMING,
  ],
  ['chunked not last', coding('chunked, gzip'), 400, FRAMING],
  ['no chunked at all', coding('gzip'), 400, FRAMING],
  ['identity alone', coding('identity'), 400, FRAMING],
  ['empty Transfer-Encoding', coding(''), 400, FRAMING],
  ['unknown Transfer-Encoding', coding('xchunked'), 501, 'ERR_ROUTING_TRANSFER_ENCODING'],
  ['empty Content-Length', length(''), 400, FRAMING],
  ['Content-Length with plus', length('+5'), 400, FRAMING],
  ['Content-Length with minus', length('-5'), 400, FRAMING],
  ['Content-Length in hex', length('0x5'), 400, FRAMING],
  ['Content-Length with a letter', length('5a'), 400, FRAMING],
  ['Content-Length as list', length('5, 5'), 400, FRAMING],
  ['Content-Length with a space inside', length('5 5'), 400, FRAMING],
  ['Content-Length overflow', length('99999999999999999999999999'), 400, FRAMING],
  ['Content-Length beyond 2^53', length('9007199254740993'), 400, FRAMING],
  ['two different Content-Lengths', length('5\r\nContent-Length: 6'), 400, FRAMING],
  ['two equal Content-Lengths', length('5\r\nContent-Length: 5'), 400, FRAMING],
  ['chunk size with sign', `${CHUNKED}+5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size with minus', `${CHUNKED}-5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size 0x5', `${CHUNKED}0x5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['empty chunk size', `${CHUNKED}\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size with a space', `${CHUNKED}5 \r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size with a leading space', `${CHUNKED} 5\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk size overflow', `${CHUNKED}fffffffffffffffff\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk without CRLF behind', `${CHUNKED}5\r\nabcde0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk longer than its size', `${CHUNKED}3\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['bare LF behind a chunk size', `${CHUNKED}5\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['bare LF behind a chunk', `${CHUNKED}5\r\nabcde\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['bare LF at the end', `${CHUNKED}0\r\n\n${SMUGGLED}`, 400, HEADER],
  // The parser of Node limits an extension to 16 KiB; shorter ones are ignored.
  [
    'chunk extension of 17 KiB in a later chunk',
    `${CHUNKED}5\r\nabcde\r\n1;${'x'.repeat(17_408)}\r\na\r\n0\r\n\r\n`,
    413,
    'ERR_ROUTING_CHUNK_EXTENSION',
  ],
  [
    'chunk extension of 17 KiB',
    `${CHUNKED}5;a=${'x'.repeat(17_408)}\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`,
    413,
    'ERR_ROUTING_CHUNK_EXTENSION',
  ],
  ['chunk extension with LF', `${CHUNKED}5;a=b\nxx\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['chunk extension with CR', `${CHUNKED}5;a=b\rxx\r\nabcde\r\n0\r\n\r\n${SMUGGLED}`, 400, BODY],
  ['trailer Content-Length', `${CHUNKED}0\r\nContent-Length: 5\r\n\r\n${SMUGGLED}`, 400, FRAMING],
  ['trailer Transfer-Encoding', `${CHUNKED}0\r\nTransfer-Encoding: chunked\r\n\r\n${SMUGGLED}`, 400, FRAMING],
  ...[
    'Host',
    'Authorization',
    'Cookie',
    'Connection',
    'Content-Type',
    'X-Forwarded-For',
    'x_forwarded_for',
    'Forwarded',
    'Proxy-Authorization',
    'X-Request-Id',
    'X-Envoy-Original-Path',
  ].map((name): Case => [
    `trailer ${name}`,
    `${CHUNKED}5\r\nabcde\r\n0\r\n${name}: a\r\n\r\n${SMUGGLED}`,
    400,
    TRAILER,
  ]),
  [
    '101 trailers',
    `${CHUNKED}5\r\nabcde\r\n0\r\n${'X: a\r\n'.repeat(101)}\r\n${SMUGGLED}`,
    431,
    'ERR_ROUTING_TOO_MANY_HEADERS',
  ],
  ['bare CR in a value', `${POST}X: a\rb\r\n\r\n`, 400, HEADER],
  ['bare CR before a hidden header', `${POST}X: a\r\rTransfer-Encoding: chunked\r\n\r\n`, 400, HEADER],
  ['bare LF in a value', `${POST}X: a\nTransfer-Encoding: chunked\r\n\r\n`, 400, HEADER],
  ['bare LF in the request line', 'GET / HTTP/1.1\nHost: a\n\n', 400, 'ERR_ROUTING_BAD_REQUEST'],
  ['NUL in a value', `${POST}X: a\0b\r\n\r\n`, 400, HEADER],
  ['NUL in a name', `${POST}X\0: a\r\n\r\n`, 400, HEADER],
  ['control character in a value', `${POST}X: a\x01b\r\n\r\n`, 400, HEADER],
  ['obs-fold', `${POST}X: a\r\n b\r\n\r\n`, 400, HEADER],
  ['obs-fold with a tab', `${POST}X: a\r\n\tb\r\n\r\n`, 400, HEADER],
  ['obs-fold of Transfer-Encoding', `${POST}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`, 400, HEADER],
  ['leading space before the first header', 'GET / HTTP/1.1\r\n X: a\r\nHost: a\r\n\r\n', 400, HEADER],
  ['leading space before the method', ' GET / HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'ERR_ROUTING_BAD_METHOD'],
  ['space before the colon', `${POST}Content-Length : 5\r\n\r\nabcde`, 400, HEADER],
  ['tab before the colon', `${POST}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n`, 400, HEADER],
  ['empty name', `${POST}: a\r\n\r\n`, 400, HEADER],
  ['no colon', `${POST}Xabc\r\n\r\n`, 400, HEADER],
  ['name that is not a token', `${POST}X@y: a\r\n\r\n`, 400, HEADER],
  ['name with a byte above 0x7f', `${POST}X\xe9: a\r\n\r\n`, 400, HEADER],
  ['name in parentheses', `${POST}X(y): a\r\n\r\n`, 400, HEADER],
];

describeParsers('framing attacks', () => {
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

  it('aborts the upstream request when a later chunk is malformed', async () => {
    const { answer, upstream } = await gateway.passes([`${CHUNKED}5\r\nabcde\r\n`, 'x\r\n', SMUGGLED]);
    expect(answer.statuses).to.deep.equal([400]);
    expect(upstream).not.to.include('0\r\n\r\n');
    expect(upstream).not.to.include('/smuggled');
  });

  it('aborts the upstream request when a forbidden trailer comes late', async () => {
    const { answer, upstream } = await gateway.passes([`${CHUNKED}5\r\nabcde\r\n`, '0\r\nCookie: a\r\n\r\n', SMUGGLED]);
    expect(answer.statuses).to.deep.equal([400]);
    expect(answer.json.code).to.equal(TRAILER);
    expect(upstream).not.to.include('\r\n0\r\n');
    expect(upstream).not.to.include('/smuggled');
  });

  it('ignores a chunk extension that the parser allows', async () => {
    const { answer, upstream } = await gateway.passes(
      `POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5;a=${'x'.repeat(15_360)}\r\nabcde\r\n0\r\n\r\n`,
    );
    expect(answer.statuses).to.deep.equal([200]);
    expect(upstream).to.match(/\r\n\r\n5\r\nabcde\r\n0\r\n\r\n$/);
  });

  it('aborts the upstream request when a long chunk extension comes late', async () => {
    const late = ['1;', ...Array.from({ length: 17 }, () => 'x'.repeat(1_024)), '\r\na\r\n0\r\n\r\n', SMUGGLED];
    const { answer, upstream } = await gateway.passes([`${CHUNKED}5\r\nabcde\r\n`, ...late]);
    expect(answer.statuses).to.deep.equal([413]);
    expect(upstream).not.to.include('\r\n0\r\n');
    expect(upstream).not.to.include('/smuggled');
  });

  it('serves the request before a malformed one, and none after it', async () => {
    const close = 'GET /third HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    const first = 'GET /first HTTP/1.1\r\nHost: a\r\n\r\n';
    const { answer, upstream } = await gateway.passes(
      `${first}GET /second HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${close}`,
    );
    expect(answer.statuses).to.deep.equal([200, 400]);
    expect(upstream).to.include('GET /first ').and.not.include('/second').and.not.include('/third');
  });

  it('serves the request before invalid bytes, and nothing after them', async () => {
    const first = 'GET /first HTTP/1.1\r\nHost: a\r\n\r\n';
    const { answer, upstream } = await gateway.passes(`${first}\0\0\0\r\n\r\nGET /third HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer.statuses[0]).to.equal(200);
    expect(upstream).to.include('GET /first ').and.not.include('/third');
  });

  for (const spelling of ['chunked', 'CHUNKED', 'Chunked ', '\tchunked']) {
    it(`passes Transfer-Encoding ${JSON.stringify(spelling)} on as one canonical header`, async () => {
      const { answer, upstream } = await gateway.passes(
        `POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\ntRANSFER-eNCODING:${spelling}\r\n\r\n5;ext=1\r\nabcde\r\n0\r\nX-Sum: 1\r\n\r\n`,
      );
      expect(answer.statuses).to.deep.equal([200]);
      const head = upstream.slice(0, upstream.indexOf('\r\n\r\n') + 2);
      expect(head.match(/\r\ntransfer-encoding: chunked\r\n/gi)).to.have.length(1);
      expect(head).not.to.match(/content-length/i);
      expect(upstream.slice(head.length + 2)).to.match(/^5\r\nabcde\r\n0\r\n\r\n$/);
    });
  }

  it('passes a Content-Length with blanks around it on as one canonical header', async () => {
    const { answer, upstream } = await gateway.passes(
      'POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length:  5 \r\n\r\nabcde',
    );
    expect(answer.statuses).to.deep.equal([200]);
    expect(upstream.match(/\r\ncontent-length: 5\r\n/gi)).to.have.length(1);
    expect(upstream.endsWith('\r\n\r\nabcde')).to.equal(true);
  });

  it('does not parse a declared body as a request (0.CL, TE.0)', async () => {
    const inner = SMUGGLED;
    const { upstream } = await gateway.passes(
      `GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    );
    expect(upstream.match(/content-length/gi)).to.have.length(1);
    expect(upstream.endsWith(`\r\n\r\n${inner}`)).to.equal(true);
  });

  it('keeps long chunked bodies complete, in sequence on one connection', async () => {
    const client = await open(gateway.port);
    gateway.forget();
    const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
    const bodies = [1, 2, 3].map((seed) => seed.toString().repeat(300_000 + seed));
    for (const [i, body] of bodies.entries()) {
      let raw = `POST /${i} HTTP/1.1\r\nHost: a\r\n${i === 2 ? 'Connection: close\r\n' : ''}Transfer-Encoding: chunked\r\n\r\n`;
      for (let at = 0; at < body.length; at += 999) {
        const piece = body.slice(at, at + 999);
        raw += `${piece.length.toString(16)};x=${'y'.repeat(at % 3_000)}\r\n${piece}\r\n`;
      }
      client.socket.write(`${raw}0\r\n\r\n`);
    }
    await client.closed;
    expect(client.text().match(/HTTP\/1\.1 200/g)).to.have.length(3);
    const parts = gateway
      .received()
      .split(/POST \/\d HTTP\/1\.1\r\n/)
      .slice(1);
    const received = parts.map((part) => unchunk(part.slice(part.indexOf('\r\n\r\n') + 4)));
    expect(received.map(digest).sort()).to.deep.equal(bodies.map(digest).sort());
  });
});

/** The data of a chunked body. */
function unchunk(body: string): string {
  let data = '';
  for (let at = 0; ;) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.slice(at, end), 16);
    if (!(size > 0)) return data;
    data += body.slice(end + 2, end + 2 + size);
    at = end + 4 + size;
  }
}
