import { expect } from 'chai';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HeadCache } from '../../src/http1/head-cache.ts';

const head = (...lines: string[]): string => ['HTTP/1.1 200 OK', ...lines, ''].join('\r\n');

describe('remembered heads', () => {
  it('are those of the same bytes and the same kind of request, and no others', () => {
    const heads = new HeadCache();
    const first = heads.read(head('content-length: 5', 'x-a: 1'), false);
    expect(heads.read(head('content-length: 5', 'x-a: 1'), false)).to.equal(first);
    expect(heads.read(head('content-length: 6', 'x-a: 1'), false)).to.deep.include({ framing: 6 });
    expect(heads.read(head('content-length: 5', 'x-a: 2'), false).headers).to.deep.equal([
      'content-length',
      '5',
      'x-a',
      '2',
    ]);
    expect(heads.read(head('content-length: 5', 'x-a: 1'), true)).to.deep.include({ framing: 0 });
    expect(first).to.deep.include({ framing: 5 });
  });

  it('are recognized by their bytes: the last one, complete, for the same kind of request', () => {
    const heads = new HeadCache();
    const bytes = (text: string) => Buffer.from(`..${text}\r\nbody`, 'latin1');
    const repeated = (text: string, { bodiless = false, missing = 0 } = {}) => {
      const buffer = bytes(text);
      return heads.repeated(buffer, 2, buffer.length - missing, bodiless)?.head;
    };
    const [one, two] = [head('content-length: 4', 'x-a: \xe9'), head('content-length: 4', 'x-a: 2')];
    expect(repeated(one)).to.equal(undefined);
    const first = heads.read(one, false);
    expect(repeated(one)).to.equal(first);
    expect(heads.repeated(bytes(one), 2, bytes(one).length, false)!.text).to.equal(`${one}\r\n`);
    expect(repeated(one, { missing: 4 })).to.equal(first);
    expect(repeated(one, { missing: 5 })).to.equal(undefined);
    expect(repeated(one, { bodiless: true })).to.equal(undefined);
    expect(repeated(two)).to.equal(undefined);
    expect(repeated(`${one}x-b: 1\r\n`)).to.equal(undefined);
    const second = heads.read(two, true);
    expect([repeated(one), repeated(two, { bodiless: true })]).to.deep.equal([first, second]);
    heads.read(two, false);
    expect([repeated(one), repeated(two)?.framing]).to.deep.equal([undefined, 4]);
    heads.read(one, false);
    expect(repeated(one)).to.equal(first);
    heads.read(head('set-cookie: a=b'), false);
    expect(repeated(head('set-cookie: a=b'))).to.equal(undefined);
  });

  it('have no cookies in them, and are not long', () => {
    const heads = new HeadCache();
    for (const line of ['Set-Cookie: a=b', `x-a: ${'a'.repeat(1100)}`]) {
      expect(heads.read(head(line), false)).to.not.equal(heads.read(head(line), false));
    }
  });

  it('are forgotten when there are many', () => {
    const heads = new HeadCache();
    const first = heads.read(head('x-i: 0'), false);
    for (let i = 1; i < 64; i++) heads.read(head(`x-i: ${i}`), false);
    expect(heads.read(head('x-i: 0'), false)).to.equal(first);
    heads.read(head('x-i: 64'), false);
    expect(heads.read(head('x-i: 0'), false)).to.not.equal(first);
  });

  it('do not keep bytes after them', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const body = 'b'.repeat(16_000);
    collect();
    const before = process.memoryUsage().heapUsed;
    const caches = Array.from({ length: 50 }, () => new HeadCache());
    for (const heads of caches) {
      for (let i = 0; i < 64; i++) {
        const text = Buffer.from(`${head(`x-i: ${i}`, 'x-long: some longer value')}\r\n${body}`).toString('latin1');
        heads.read(text.slice(0, text.indexOf('\r\n\r\n') + 2), false);
      }
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).to.be.lessThan(15_000_000);
    expect(caches[0]!.read(head('x-i: 1', 'x-long: some longer value'), false).status).to.equal(200);
  });

  it('that are bad are bad every time', () => {
    const heads = new HeadCache();
    for (let i = 0; i < 3; i++) expect(() => heads.read(head('x a: b'), false)).to.throw('not a token');
  });
});
