import { expect } from 'chai';
import { HeadCache } from '../../../src/http1/head-cache.ts';
import { headerLines } from '../../../src/listen/http1/header-lines.ts';

const TEXT = 'HTTP/1.1 200 OK\r\nA: 1\r\nDate: today\r\nContent-Length: 2\r\nB: caf\u00e9\r\n';

describe('lines of headers that were received', () => {
  const heads = new HeadCache();
  const head = heads.read(TEXT, false);

  it('are those of the headers, the first time and when the head repeats', () => {
    const expected = { text: 'A: 1\r\nDate: today\r\nContent-Length: 2\r\nB: caf\u00e9\r\n', hasDate: true };
    expect(headerLines(head.headers, 2)).to.deep.equal(expected);
    for (let i = 0; i < 3; i++)
      expect(headerLines([...head.headers], 2, heads.read(TEXT, false))).to.deep.equal(expected);
  });

  it('still have the date and the length checked', () => {
    expect(headerLines(head.headers, 3, head)).to.equal(undefined);
    expect(headerLines(head.headers.slice(0, 2), 0, head)).to.equal(undefined);
  });

  it('are those of changed, added and removed headers', () => {
    const [a, one, ...others] = head.headers;
    expect(headerLines([a!, '2', ...others], 2, head)?.text).to.match(/^A: 2\r\nDate/);
    expect(headerLines(['C', one!, ...others], 2, head)?.text).to.match(/^C: 1\r\nDate/);
    expect(headerLines(others, 2, head)?.text).to.equal('Date: today\r\nContent-Length: 2\r\nB: caf\u00e9\r\n');
    expect(headerLines([...head.headers, 'x', 'y'], 2, head)?.text).to.match(/\r\nx: y\r\n$/);
    expect(headerLines(['A', 'a\r\nforged: 1', ...others], 2, head)).to.equal(undefined);
    expect(headerLines(head.headers, 2, head)?.text).to.match(/^A: 1\r\n/);
  });

  it('are not kept for a head that does not repeat', () => {
    const text = 'HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nContent-Length: 0\r\n';
    const once = heads.read(text, false);
    expect(once.lines).to.equal(undefined);
    expect(headerLines(once.headers, 0, once)?.text).to.equal('Set-Cookie: a\r\nContent-Length: 0\r\n');
  });
});
