import { expect } from 'chai';
import { parseCookies } from '@edge-gateway/core';
import type { AuthRequest } from '@edge-gateway/core';
import { clearCookie, cookiesOf, joinValue, setCookie, splitValue } from '../../src/http/cookies.ts';

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

  it('with two different values are omitted', () => {
    expect([...parseCookies('a=1; b=2; a=3')]).to.deep.equal([['b', '2']]);
    expect(parseCookies('a=1; a=1').get('a')).to.equal('1');
  });

  it('of HTTP/2 are read from several headers', () => {
    const headers = () => ['cookie', 'a=1', 'x', 'y', 'cookie', 'b=2; c=3'];
    const request = { headers } as unknown as AuthRequest;
    expect([...cookiesOf(request).keys()]).to.deep.equal(['a', 'b', 'c']);
  });

  const long = Array.from({ length: 9000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('');
  const map = (entries: readonly (readonly [string, string])[]) => new Map(entries);

  it('split a long value into chunks', () => {
    const chunks = splitValue('t', long)!;
    expect(chunks.map(([name]) => name)).to.deep.equal(['t', 't_1', 't_2', 't_3']);
    for (const [name, value] of chunks) expect(name.length + value.length).to.be.below(4000);
    expect(joinValue('t', map(chunks))).to.equal(long);
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
      [['t', head[1].replace('chunks:3', 'chunks:4')], one, two, three, ['t_4', 'x']],
      [['t', head[1].replace('chunks:3', 'chunks:9')], one, two, three],
    ] as [string, string][][];
    for (const cookies of bad) expect(joinValue('t', map(cookies))).to.equal(undefined);
  });

  it('reject a value that is too long', () => {
    expect(splitValue('t', 'x'.repeat(20_000))).to.equal(undefined);
  });
});
