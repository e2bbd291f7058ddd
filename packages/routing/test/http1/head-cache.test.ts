import { expect } from 'chai';
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

  it('that are bad are bad every time', () => {
    const heads = new HeadCache();
    for (let i = 0; i < 3; i++) expect(() => heads.read(head('x a: b'), false)).to.throw('not a token');
  });
});
