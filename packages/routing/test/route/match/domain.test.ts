import { expect } from 'chai';
import { createDomainIndex } from '../../../src/route/match/domain.ts';

function find(domains: readonly string[], host: string): string | undefined {
  return createDomainIndex(domains.map((domain) => ({ domain, value: domain })))(host)?.domain;
}

describe('domain', () => {
  it('prefers exact, then the longest suffix, then the longest prefix, then any', () => {
    const domains = ['*', 'a.*', 'api.*', '*.b', '*.a.b', 'api.a.b'];
    expect(find(domains, 'api.a.b')).to.equal('api.a.b');
    expect(find(domains, 'x.a.b')).to.equal('*.a.b');
    expect(find(domains, 'x.c.b')).to.equal('*.b');
    expect(find(domains, 'api.c')).to.equal('api.*');
    expect(find(domains, 'a.c')).to.equal('a.*');
    expect(find(domains, 'c')).to.equal('*');
  });

  it('does not depend on the order of declaration', () => {
    const domains = ['*', '*.b', '*.a.b', 'api.*'];
    expect(find(domains.toReversed(), 'x.a.b')).to.equal('*.a.b');
  });

  it('never matches a wildcard with an empty text', () => {
    expect(find(['*.b'], '.b')).to.equal(undefined);
    expect(find(['*.b'], 'b')).to.equal(undefined);
    expect(find(['a.*'], 'a.')).to.equal(undefined);
  });

  it('matches suffixes that begin within a label', () => {
    expect(find(['*-x.b'], 'a-x.b')).to.equal('*-x.b');
    expect(find(['*-x.b'], 'ax.b')).to.equal(undefined);
  });

  it('compares without case, and with the port', () => {
    expect(find(['a.b'], 'A.B')).to.equal('a.b');
    expect(find(['a.b'], 'a.b:8080')).to.equal(undefined);
    expect(find(['a.b:8080'], 'a.b:8080')).to.equal('a.b:8080');
    expect(find(['*.b'], 'a.b:8080')).to.equal(undefined);
  });

  it('returns undefined for an unknown host', () => {
    expect(find([], 'a')).to.equal(undefined);
    expect(find(['a.b'], '')).to.equal(undefined);
  });
});
