import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { DEFAULT_LIMITS, type ListenLimits } from '../../../src/listen/limits.ts';
import { PlainHeadReader, type PlainHead } from '../../../src/listen/http1/plain-head.ts';
import { readDifferences } from './read-differences.ts';

function read(text: string, limits: Partial<ListenLimits> = {}): PlainHead | undefined {
  const bytes = Buffer.from(text, 'latin1');
  return new PlainHeadReader({ ...DEFAULT_LIMITS, ...limits }).read(bytes, 0, bytes.length);
}

const HEAD = 'GET /a?b=c HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n';

describe('heads of plain requests', () => {
  it('reads method, target, headers and the start of the body', () => {
    expect(read(`${HEAD}Content-Length: 2\r\n\r\nab`)).to.deep.equal({
      method: 'GET',
      target: '/a?b=c',
      rawHeaders: ['Host', 'a', 'Accept', '*/*', 'Content-Length', '2'],
      contentLength: 2,
      keepAlive: true,
      bodyStart: HEAD.length + 21,
    });
  });

  it('keeps no body in memory with the remembered headers', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const body = 'b'.repeat(50_000);
    collect();
    const before = process.memoryUsage().heapUsed;
    const readers = Array.from({ length: 400 }, (_, i) => {
      const bytes = Buffer.from(`${HEAD}X-Id: ${i}\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 'latin1');
      const reader = new PlainHeadReader(DEFAULT_LIMITS);
      expect(reader.read(bytes, 0, bytes.length)).to.include({ contentLength: body.length });
      return reader;
    });
    collect();
    expect((process.memoryUsage().heapUsed - before) / readers.length).to.be.lessThan(20_000);
  });

  it('starts at the given offset', () => {
    const bytes = Buffer.from(`xyz${HEAD}\r\n`, 'latin1');
    expect(new PlainHeadReader(DEFAULT_LIMITS).read(bytes, 3, bytes.length)).to.include({ bodyStart: bytes.length });
  });

  it('recognizes Connection: close', () => {
    expect(read(`${HEAD}Connection: close\r\n\r\n`)).to.include({ keepAlive: false });
    expect(read(`${HEAD}Connection: Keep-Alive\r\n\r\n`)).to.include({ keepAlive: true });
  });

  it('gives each request a list of headers of its own', () => {
    const reader = new PlainHeadReader(DEFAULT_LIMITS);
    const bytes = Buffer.from(`${HEAD}\r\n`, 'latin1');
    const first = reader.read(bytes, 0, bytes.length)!;
    first.rawHeaders.length = 0;
    expect(reader.read(bytes, 0, bytes.length)!.rawHeaders).to.deep.equal(['Host', 'a', 'Accept', '*/*']);
  });

  it('does not confuse header lines with those of the request before', () => {
    const reader = new PlainHeadReader(DEFAULT_LIMITS);
    for (const value of ['1', '2', '1', '33']) {
      const bytes = Buffer.from(`${HEAD}X: ${value}\r\n\r\n`, 'latin1');
      expect(reader.read(bytes, 0, bytes.length)!.rawHeaders.at(-1)).to.equal(value);
    }
  });

  for (const [name, text] of Object.entries({
    'an incomplete head': HEAD,
    'no headers': 'GET / HTTP/1.1\r\n\r\n',
    'no host': 'GET / HTTP/1.1\r\nAccept: a\r\n\r\n',
    'two hosts': `${HEAD}Host: a\r\n\r\n`,
    'an invalid host': 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n',
    'an unknown method': 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n',
    'a method in lower case': 'get / HTTP/1.1\r\nHost: a\r\n\r\n',
    'HTTP/1.0': 'GET / HTTP/1.0\r\nHost: a\r\n\r\n',
    'an absolute target': 'GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n',
    'a fragment': 'GET /#a HTTP/1.1\r\nHost: a\r\n\r\n',
    'a blank line before': `\r\n${HEAD}\r\n`,
    'a bare line feed': 'GET / HTTP/1.1\nHost: a\r\n\r\n',
    'a bare line feed in a value': `${HEAD}X: a\nb\r\n\r\n`,
    'a folded line': `${HEAD} x: b\r\n\r\n`,
    'a space before the colon': `${HEAD}X : b\r\n\r\n`,
    'no space after the colon': `${HEAD}X:b\r\n\r\n`,
    'two spaces after the colon': `${HEAD}X:  b\r\n\r\n`,
    'a space after the value': `${HEAD}X: b \r\n\r\n`,
    'an empty value': `${HEAD}X: \r\n\r\n`,
    'a tab in a value': `${HEAD}X: a\tb\r\n\r\n`,
    'a byte beyond ASCII': `${HEAD}X: \xe4\r\n\r\n`,
    'Transfer-Encoding': `${HEAD}Transfer-Encoding: chunked\r\n\r\n`,
    Expect: `${HEAD}Expect: 100-continue\r\n\r\n`,
    Upgrade: `${HEAD}Upgrade: websocket\r\n\r\n`,
    'another Connection': `${HEAD}Connection: upgrade\r\n\r\n`,
    'two Connections': `${HEAD}Connection: close\r\nConnection: close\r\n\r\n`,
    'two lengths': `${HEAD}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`,
    'a length with a sign': `${HEAD}Content-Length: +1\r\n\r\na`,
    'a length with a zero in front': `${HEAD}Content-Length: 01\r\n\r\na`,
    'two content types': `${HEAD}Content-Type: a\r\ncontent-type: a\r\n\r\n`,
  }))
    it(`leaves ${name} to node:http`, () => expect(read(text)).to.equal(undefined));

  it('leaves what exceeds a limit to node:http', () => {
    const text = `${HEAD}Content-Length: 3\r\nx_y: 1\r\n\r\nabc`;
    const length = text.length - 3;
    expect(read(text, { maxHeadBytes: length })).to.include({ contentLength: 3 });
    expect(read(text, { maxHeadBytes: length - 1 })).to.equal(undefined);
    expect(read(text, { maxHeaders: 4 })).to.include({ contentLength: 3 });
    expect(read(text, { maxHeaders: 3 })).to.equal(undefined);
    expect(read(text, { maxTargetBytes: 6 })).to.include({ contentLength: 3 });
    expect(read(text, { maxTargetBytes: 5 })).to.equal(undefined);
    expect(read(text, { maxBodyBytes: 3 })).to.include({ contentLength: 3 });
    expect(read(text, { maxBodyBytes: 2 })).to.equal(undefined);
    expect(read(text, { refuseUnderscores: true })).to.equal(undefined);
  });

  it('accepts nothing that node:http or the checks read differently, in 20,000 random requests', async () => {
    const { plain, differences } = await readDifferences(1, 20_000);
    expect(differences).to.deep.equal([]);
    expect(plain).to.be.greaterThan(4_000);
  });
});
