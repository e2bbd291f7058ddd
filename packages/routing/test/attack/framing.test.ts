import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describeParsers, open } from '../listen/serving.ts';
import { CHUNKED, FRAMING_CASES, SMUGGLED, TRAILER } from './framing-cases.ts';
import { attackedGateway, type AttackedGateway } from './gateway.ts';

describeParsers('framing attacks', () => {
  let gateway: AttackedGateway;
  before(async () => {
    gateway = await attackedGateway();
  });
  after(() => gateway.close());

  for (const [name, bytes, status, code] of FRAMING_CASES) {
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
    expect(answer.statuses).to.deep.equal([200, 400]);
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
