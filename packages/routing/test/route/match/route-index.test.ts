import { expect } from 'chai';
import type { Route } from '@edge-gateway/core';
import { compileMatcher, literalPrefix, pathFits } from '../../../src/route/match/matcher.ts';
import { allHold } from '../../../src/route/match/conditions.ts';
import type { RequestView } from '../../../src/format/record.ts';
import { createRouteIndex, findRoute } from '../../../src/route/match/route-index.ts';

type Matcher = Route['matchers'][number];

function viewOf(path: string, method = 'GET', headers: readonly string[] = []): RequestView {
  return { method, path, pathname: path.split('?')[0]!, authority: 'a', headers };
}

function indexOf(matchers: readonly Matcher[]) {
  const entries = matchers.map((matcher, order) => ({ order, matcher: compileMatcher(matcher), route: order }));
  return { entries, find: (view: RequestView) => findRoute(createRouteIndex(entries), view)?.route };
}

describe('route index', () => {
  it('selects the first match, not the longest', () => {
    const { find } = indexOf([{ prefix: '/a' }, { prefix: '/a/b' }, { exact: '/a/b' }]);
    expect(find(viewOf('/a/b'))).to.equal(0);
  });

  it('compares prefixes as text', () => {
    const { find } = indexOf([{ prefix: '/foo' }]);
    expect(find(viewOf('/foobar'))).to.equal(0);
    expect(find(viewOf('/fo'))).to.equal(undefined);
  });

  it('compares exact paths without the query', () => {
    const { find } = indexOf([{ exact: '/a' }]);
    expect(find(viewOf('/a?x'))).to.equal(0);
    expect(find(viewOf('/a/'))).to.equal(undefined);
  });

  it('ignores case if configured, for prefix and exact', () => {
    const { find } = indexOf([
      { prefix: '/Foo', caseSensitive: false },
      { exact: '/Bar', caseSensitive: false },
      { exact: '/X' },
    ]);
    expect(find(viewOf('/fOO/x'))).to.equal(0);
    expect(find(viewOf('/BAR'))).to.equal(1);
    expect(find(viewOf('/BAR/'))).to.equal(undefined);
    expect(find(viewOf('/x'))).to.equal(undefined);
  });

  it('matches expressions against the whole path', () => {
    const { find } = indexOf([{ regex: '/v[0-9]+/a' }, { regex: '/a|/b' }]);
    expect(find(viewOf('/v12/a'))).to.equal(0);
    expect(find(viewOf('/v12/a/b'))).to.equal(undefined);
    expect(find(viewOf('/b?x'))).to.equal(1);
  });

  it('continues with the next one if a condition does not match', () => {
    const { find } = indexOf([
      { prefix: '/', methods: ['POST'] },
      { prefix: '/', headers: [{ name: 'x-a' }] },
      { prefix: '/' },
    ]);
    expect(find(viewOf('/a', 'POST'))).to.equal(0);
    expect(find(viewOf('/a', 'GET', ['x-a', '1']))).to.equal(1);
    expect(find(viewOf('/a'))).to.equal(2);
  });

  it('leaves CONNECT matchers to CONNECT', () => {
    const { find } = indexOf([{ connectMatcher: {} }, { prefix: '/' }]);
    expect(find(viewOf('/a'))).to.equal(1);
    expect(find(viewOf('/a', 'CONNECT'))).to.equal(0);
  });

  it('fits an escaped path to a matcher that writes the same path otherwise', () => {
    const { find } = indexOf([{ exact: '/caf%c3%a9' }]);
    expect(find(viewOf('/caf%C3%A9'))).to.equal(0);
  });

  it('finds the same route as a linear scan', () => {
    let seed = 1;
    const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
    const segment = (): string => ['a', 'ab', 'abc', 'b', 'B', '', 'c', 'd', 'e', 'f'][random(10)]!;
    const path = (): string => `/${Array.from({ length: random(4) }, segment).join('/')}`;
    for (let round = 0; round < 200; round++) {
      const matchers = Array.from({ length: 1 + random(round % 2 === 0 ? 12 : 60) }, (): Matcher => {
        const conditions = random(3) === 0 ? { methods: ['POST'] } : {};
        const caseSensitive = random(4) === 0 ? false : undefined;
        const kind = random(4);
        if (kind === 0) return { exact: path(), caseSensitive, ...conditions };
        if (kind === 1) return { regex: `${path()}[ab]?.*`, ...conditions };
        return { prefix: path(), caseSensitive, ...conditions };
      });
      const { entries, find } = indexOf(matchers);
      for (let i = 0; i < 20; i++) {
        const view = viewOf(path(), random(2) === 0 ? 'GET' : 'POST');
        const expected = entries.find(
          ({ matcher }) => pathFits(matcher, view.pathname, view.method) && allHold(matcher.conditions, view),
        );
        expect(find(view), `${JSON.stringify(matchers)} ${view.pathname}`).to.equal(expected?.route);
      }
    }
  });
});

describe('literal prefix', () => {
  it('is the text before the first thing that may vary', () => {
    expect(literalPrefix('/api/v[0-9]+')).to.equal('/api/v');
    expect(literalPrefix('^/api/.*')).to.equal('/api/');
    expect(literalPrefix('/ab?c')).to.equal('/a');
    expect(literalPrefix('/ab*')).to.equal('/a');
    expect(literalPrefix('/ab{0,2}')).to.equal('/a');
    expect(literalPrefix('/a|/b')).to.equal('');
    expect(literalPrefix('(?i)/a')).to.equal('');
    expect(literalPrefix('/a\\.b')).to.equal('/a');
  });
});
