import { expect } from 'chai';
import { headerName } from '../../src/http1/header-name.ts';
import { cachedByName } from '../../src/http1/name-cache.ts';

describe('headerName', () => {
  const roles: readonly (readonly [string, string, boolean])[] = [
    ['Host', 'host', false],
    ['Connection', 'connection', true],
    ['TE', 'te', true],
    ['Trailer', 'trailer', true],
    ['Upgrade', 'hop-by-hop', true],
    ['Keep-Alive', 'hop-by-hop', true],
    ['Transfer-Encoding', 'hop-by-hop', true],
    ['Proxy-Connection', 'hop-by-hop', true],
    ['Proxy-Authorization', 'proxy-authorization', true],
    ['Content-Length', 'content-length', true],
    ['Expect', 'expect', true],
    ['Content-Type', 'content-type', false],
    ['X-Forwarded-For', 'forwarded', false],
    ['X-Request-Id', 'forwarded', false],
    ['X-Envoy-Retry-On', 'envoy', false],
    ['X-Envoyage', 'other', false],
    ['X_Envoy_Retry_On', 'underscore', false],
    ['Content_Length', 'underscore', false],
    ['Accept', 'other', false],
  ];
  for (const [name, role, isFraming] of roles) {
    it(`knows ${name}, in any case`, () => {
      const lower = name.toLowerCase();
      for (const written of [name, lower, name.toUpperCase(), name])
        expect(headerName(written)).to.deep.equal({ lower, role, isToken: true, isFraming });
    });
  }

  it('knows names that must not be sent', () => {
    for (const name of ['', 'a b', 'a:', 'a\r\nb', 'caf\u00e9']) {
      expect(headerName(name).isToken).to.equal(false);
      expect(headerName(name).isToken).to.equal(false);
    }
  });
});

describe('cachedByName', () => {
  it('classifies a name once', () => {
    const seen: string[] = [];
    const lengthOf = cachedByName((name) => seen.push(name));
    for (const name of ['a', 'b', 'a', 'A', 'b']) lengthOf(name);
    expect(seen).to.deep.equal(['a', 'b', 'A']);
    expect([lengthOf('a'), lengthOf('A')]).to.deep.equal([1, 3]);
  });

  it('caches neither long names nor many', () => {
    let calls = 0;
    const count = cachedByName(() => ++calls);
    const callsFor = (name: string): number => {
      const before = calls;
      count(name);
      count(name);
      return calls - before;
    };
    expect([callsFor('a'.repeat(64)), callsFor('a'.repeat(65))]).to.deep.equal([1, 2]);
    for (let i = 0; i < 999; i++) expect(callsFor(`x-${i}`)).to.equal(1);
    expect([callsFor('one-more'), callsFor('x-5')]).to.deep.equal([2, 0]);
  });
});
