import { expect } from 'chai';
import { ChunkReader } from '../../src/http1/chunks.ts';

/** Reads a text in pieces; gives the data, what was left behind the end, and whether it ended. */
function read(...pieces: string[]): { data: string; left: string; done: boolean } {
  const reader = new ChunkReader();
  let data = '';
  let left = '';
  for (const piece of pieces) {
    const buffer = Buffer.from(piece, 'latin1');
    const stopped = reader.read(buffer, { start: 0, end: buffer.length }, (start, end) => {
      data += buffer.toString('latin1', start, end);
    });
    left += buffer.toString('latin1', stopped);
  }
  return { data, left, done: reader.done };
}

const GOOD: Readonly<Record<string, [string, string]>> = {
  'one chunk': ['5\r\nhello\r\n0\r\n\r\n', 'hello'],
  'two chunks': ['5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n', 'hello world'],
  nothing: ['0\r\n\r\n', ''],
  'many zeros as the last size': ['000\r\n\r\n', ''],
  'a size with leading zeros and capitals': [`0001A\r\n${'x'.repeat(26)}\r\n0\r\n\r\n`, 'x'.repeat(26)],
  extensions: ['5;a=b;c="d e"\r\nhello\r\n0;end\r\n\r\n', 'hello'],
  trailers: ['5\r\nhello\r\n0\r\nx-a: 1\r\nx-b:\r\n\r\n', 'hello'],
  'line breaks as data': ['4\r\n\r\n\r\n\r\n0\r\n\r\n', '\r\n\r\n'],
};

const BAD: Readonly<Record<string, string>> = {
  'an empty size': '\r\n',
  'an extension without size': ';a\r\n',
  'a blank before the size': ' 5\r\nhello\r\n0\r\n\r\n',
  'a blank behind the size': '5 \r\nhello\r\n0\r\n\r\n',
  'a size of 13 digits': '1000000000000\r\n',
  'a carriage return without line feed': '5\rhello',
  'a line feed alone in an extension': '5;a\nhello\r\n0\r\n\r\n',
  'a trailer that is folded': '0\r\nx-a: 1\r\n 2\r\n\r\n',
  'a trailer with a bare line feed': '0\r\nx-a: 1\nx-b: 2\r\n\r\n',
  'a trailer without colon': '0\r\nx-a\r\n\r\n',
  'a trailer with a NUL': '0\r\nx-a: \0\r\n\r\n',
  'a trailer that frames': '0\r\nContent-Length: 1\r\n\r\n',
  'a coding as a trailer': '0\r\nTRANSFER-ENCODING: chunked\r\n\r\n',
  'a digit behind the last one': 'g\r\n',
  'a character before the first digit': '/\r\n',
  'a character before the first letter': '@\r\n',
  'a control character in an extension': '5;\x1f\r\nhello\r\n0\r\n\r\n',
  'a DEL in an extension': '5;\x7f\r\nhello\r\n0\r\n\r\n',
};

describe('chunks', () => {
  for (const [name, [text, data]] of Object.entries(GOOD)) {
    it(`are read at once and split at any byte: ${name}`, () => {
      const expected = { data, left: '', done: true };
      expect(read(text)).to.deep.equal(expected);
      expect(read(...text)).to.deep.equal(expected);
      for (let i = 1; i < text.length; i++) expect(read(text.slice(0, i), text.slice(i))).to.deep.equal(expected);
    });
  }

  it('give their trailers as a flat list', () => {
    const reader = new ChunkReader();
    const text = '0\r\nX-A: 1 \r\nx-b:\r\n\r\n';
    for (const char of text) reader.read(Buffer.from(char), { start: 0, end: 1 }, () => {});
    expect(reader.trailers).to.deep.equal(['X-A', '1', 'x-b', '']);
  });

  it('may have an extension each, as signed ones do', () => {
    const chunk = `1;signature=${'f'.repeat(80)}\r\na\r\n`;
    expect(read(`${chunk.repeat(200)}0\r\n\r\n`)).to.deep.equal({ data: 'a'.repeat(200), left: '', done: true });
  });

  it('end after the last one, and leave later bytes', () => {
    expect(read('1\r\na\r\n0\r\n\r\nHTTP/1.1')).to.deep.equal({ data: 'a', left: 'HTTP/1.1', done: true });
    expect(read('0\r\nx-a: 1\r\n\r', '\nHTTP/1.1')).to.deep.equal({ data: '', left: 'HTTP/1.1', done: true });
  });

  it('are not over before the blank line', () => {
    for (const text of ['5\r\nhello\r\n0\r\n', '5\r\nhello\r\n', '5\r\nhel', '0\r\nx-a: 1\r\n', '0\r\n\r']) {
      expect(read(text).done, text).to.equal(false);
    }
  });

  for (const [name, text] of Object.entries(BAD)) {
    it(`are rejected with ${name}`, () => {
      expect(() => read(text))
        .to.throw()
        .with.property('code', 'ERR_ROUTING_UPSTREAM_PROTOCOL');
      expect(() => read(...text))
        .to.throw()
        .with.property('code', 'ERR_ROUTING_UPSTREAM_PROTOCOL');
    });
  }

  it('are rejected with trailers or extensions without end, however they are split', () => {
    const endless = ['0\r\n', ...Array.from({ length: 40 }, () => `x-a: ${'t'.repeat(500)}\r\n`)];
    expect(() => read(...endless)).to.throw('the trailers are too long');
    expect(() => read(`1;${'e'.repeat(5000)}`)).to.throw('a chunk extension is too long');
  });

  it('may have an extension of up to 4096 bytes and trailers of up to 16 KiB', () => {
    const extended = (bytes: number): string => `1;${'e'.repeat(bytes - 1)}\r\na\r\n0\r\n\r\n`;
    // The first semicolon does not count.
    expect(read(extended(4097))).to.include({ data: 'a', done: true });
    expect(() => read(extended(4098))).to.throw('a chunk extension is too long');
    const trailed = (bytes: number): string => `0\r\nx-a: ${'t'.repeat(bytes - 9)}\r\n\r\n`;
    expect(read(trailed(16_384))).to.deep.equal({ data: '', left: '', done: true });
    expect(() => read(trailed(16_385))).to.throw('the trailers are too long');
  });
});
