import { expect } from 'chai';
import { parseCookies } from '@edge-gateway/core';
import type { AuthRequest } from '@edge-gateway/core';
import { clearCookie, cookiesOf, joinValues, setCookie, splitValue } from '../../src/http/cookies.ts';

const attributes = {
  maxAgeSeconds: 60,
  secure: true,
  httpOnly: true,
  path: '/app',
  sameSite: 'Lax',
  domain: 'example.com',
} as const;

describe('cookies', () => {
  it('are set and cleared with the same domain and path', () => {
    expect(setCookie('a', 'b', attributes)).to.equal(
      'a=b; Path=/app; Domain=example.com; Max-Age=60; Secure; HttpOnly; SameSite=Lax',
    );
    expect(clearCookie('a', attributes)).to.match(
      /^a=; Path=\/app; Domain=example.com; Max-Age=0; Expires=Thu, 01 Jan 1970/,
    );
  });

  it('omit unset attributes', () => {
    const bare = {
      maxAgeSeconds: undefined,
      secure: false,
      httpOnly: false,
      path: '',
      sameSite: undefined,
      domain: undefined,
    };
    expect(setCookie('a', 'b', bare)).to.equal('a=b');
  });

  it('with several values have all of them, without repetitions', () => {
    expect([...parseCookies('a=1; b=2; a=3; a="1"')]).to.deep.equal([
      ['a', ['1', '3']],
      ['b', ['2']],
    ]);
    const many = Array.from({ length: 2000 }, (_, i) => `a=${i}`).join('; ');
    expect(parseCookies(many).get('a')).to.have.length(2000);
  });

  it('of HTTP/2 are read from several headers', () => {
    const headers = () => ['cookie', 'a=1', 'x', 'y', 'cookie', 'b=2; c=3'];
    const request = { headers } as unknown as AuthRequest;
    expect([...cookiesOf(request).keys()]).to.deep.equal(['a', 'b', 'c']);
  });

  const long = Array.from({ length: 9000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('');
  const map = (entries: readonly (readonly [string, string])[]) =>
    parseCookies(entries.map((pair) => pair.join('=')).join('; '));

  it('split a long value into chunks', () => {
    const chunks = splitValue('t', long)!;
    expect(chunks.map(([name]) => name)).to.deep.equal(['t', 't_1', 't_2', 't_3']);
    for (const [name, value] of chunks) expect(name.length + value.length).to.be.below(4000);
    expect(joinValues('t', map(chunks))).to.deep.equal([long]);
  });

  it('have no value if chunks are missing, reordered, duplicated, mixed, or miscounted', () => {
    const chunks = splitValue('t', long)!;
    const other = splitValue('t', long.toUpperCase())!;
    const [head, one, two, three] = chunks as [[string, string], [string, string], [string, string], [string, string]];
    const bad = [
      [head, one, two],
      [head, ['t_1', two[1]], ['t_2', one[1]], three],
      [head, one, ['t_2', one[1]], three],
      [head, one, other[2]!, three],
      [['t', head[1].replace('chunks:', `chunks:${'x'.repeat(43)}:`)], one, two, three, ['t_4', 'x']],
    ] as [string, string][][];
    for (const cookies of bad) expect(joinValues('t', map(cookies))).to.deep.equal([]);
  });

  it('have each value whose chunks are complete, in any order and among others', () => {
    const [mine, other] = [splitValue('t', long)!, splitValue('t', long.toUpperCase())!];
    expect(joinValues('t', map([...mine, ...other]))).to.deep.equal([long, long.toUpperCase()]);
    expect(joinValues('t', map([...other.toReversed(), ['t', 'x'], ...mine]))).to.deep.equal([
      long.toUpperCase(),
      'x',
      long,
    ]);
    const stray = mine.map(([name], i) => [name, `stray${i}`] as const);
    expect(joinValues('t', map([...stray, ...mine]))).to.deep.equal(['stray0', long]);
  });

  it('find their chunks behind any number of others', () => {
    const mine = splitValue('t', 'y'.repeat(14_000))!;
    const stray = Array.from({ length: 100 }, (_, i) => mine.slice(1).map(([name]) => [name, `stray${i}`] as const));
    expect(joinValues('t', map([...stray.flat(), ...mine]))).to.deep.equal(['y'.repeat(14_000)]);
  });

  it('reject a value that is too long', () => {
    expect(splitValue('t', 'x'.repeat(20_000))).to.equal(undefined);
  });
});
