import { expect } from 'chai';
import { createDomainIndex, DomainIndex, type DomainEntry } from '../../../src/route/match/domain.ts';

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

describe('a changed domain index', () => {
  const domains = ['*', '*.b', '*.a.b', '*-x.b', 'a.*', 'api.*', 'a.b', 'c.b', 'api.a.b', 'x.a.b:8080'];
  const hosts = [...domains, 'y.a.b', 'a-x.b', 'a.c', 'api.c', 'z', 'b', 'X.A.B', 'a.b:8080'];

  it('finds the same as a new one, or is none because the order counts', () => {
    let state = 1;
    const random = (limit: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
    let changed = 0;
    let rivals = 0;
    let entries: DomainEntry<number>[] = [];
    let index = DomainIndex.of(entries);
    for (let step = 0; step < 3000; step++) {
      const removed = entries.filter(() => random(4) === 0);
      const added = Array.from({ length: random(3) }, (_, i) => {
        return { domain: domains[random(domains.length)]!, value: step * 10 + i };
      });
      entries = [...entries.filter((entry) => !removed.includes(entry)), ...added];
      const whole = DomainIndex.of(entries);
      const next = index.after(
        removed.map(({ domain }) => domain),
        added,
      );
      const isUnique = new Set(entries.map(({ domain }) => domain)).size === entries.length;
      if (next) {
        changed++;
        expect(isUnique).to.equal(true);
        for (const host of hosts) expect(next.find(host)).to.equal(whole.find(host), `step ${step}: ${host}`);
      } else rivals++;
      index = next ?? whole;
    }
    expect(changed).to.be.greaterThan(500);
    expect(rivals).to.be.greaterThan(100);
  });
});
