import { expect } from 'chai';
import type { Matcher } from '../../../src/schema/route/matcher.ts';
import { delegatingMatcher, inheritMatcher, outsideParent } from '../../../src/translate/route/matchers.ts';
import { sortRoutes } from '../../../src/translate/route/route-order.ts';
import { delegatingProblem } from '../../../src/validate/route/check-matcher.ts';

const header = { name: 'x-a', value: '1' };
const parent: Matcher = { prefix: '/a', headers: [header], methods: ['GET'], queryParameters: [{ name: 'q' }] };
const conditions = { headers: [header], methods: ['GET', 'POST'], queryParameters: [{ name: 'q' }, { name: 'r' }] };

describe('matchers of delegated routes', () => {
  it('are inside the parent if they repeat its conditions', () => {
    expect(outsideParent({ prefix: '/ab', ...conditions }, parent)).to.equal(undefined);
  });

  for (const regex of [
    '/a.*',
    '/a+',
    '/a(/x|/y)',
    '/a/x|/a/y',
    '/a/[|]',
    '/a/[]|]',
    '/a/\\|x',
    '/a/\\Q|\\E',
    '/a/([(]|x)',
  ])
    it(`are inside the parent with the regular expression ${regex}`, () => {
      expect(outsideParent({ regex, ...conditions }, parent)).to.equal(undefined);
      expect(outsideParent({ regex: `${regex}|/b` }, { prefix: '/' })).to.equal(undefined);
    });

  for (const regex of ['/a/x|/b', '/a|', '/a(x)|/b', '/a/[|]|/b', '/a?b', '/a*', '/a{0}b', '/a/x|/a?', '(/a|/b)'])
    it(`are outside with the regular expression ${regex}`, () => {
      expect(outsideParent({ regex, ...conditions }, parent)).to.contain("begin with the prefix '/a'");
    });

  const outside: [string, Matcher][] = [
    ['begin', { prefix: '/b', ...conditions }],
    ['caseSensitive', { prefix: '/a', caseSensitive: false, ...conditions }],
    ["header 'x-a'", { prefix: '/a', ...conditions, headers: [{ ...header, invertMatch: true }] }],
    ["header 'x-a'", { prefix: '/a', ...conditions, headers: [{ name: 'x-a' }] }],
    ["query parameter 'q'", { prefix: '/a', ...conditions, queryParameters: [] }],
    ['method GET', { prefix: '/a', ...conditions, methods: ['POST'] }],
    ['begin', { connectMatcher: {}, ...conditions }],
  ];
  for (const [why, child] of outside) {
    it(`are outside: ${JSON.stringify(child)}`, () => expect(outsideParent(child, parent)).to.contain(why));
  }

  it('prepend what they inherit', () => {
    const child: Matcher = { exact: '/a/1', headers: [{ name: 'x-b' }], methods: ['POST', 'GET'] };
    expect(inheritMatcher(child, parent, { matchers: true, pathMatchers: false })).to.deep.equal({
      exact: '/a/1',
      headers: [header, { name: 'x-b' }],
      queryParameters: [{ name: 'q' }],
      methods: ['GET', 'POST'],
    });
  });

  it('use the path of the parent if they inherit it', () => {
    const child: Matcher = { regex: '.*', caseSensitive: false, methods: ['GET'] };
    const inherited = inheritMatcher(child, { prefix: '/a' }, { matchers: false, pathMatchers: true });
    expect(inherited).to.deep.equal({ prefix: '/a', methods: ['GET'] });
  });

  it('may be one prefix on a route that delegates', () => {
    expect(delegatingProblem([])).to.equal(undefined);
    expect(delegatingProblem([{ prefix: '/a' }])).to.equal(undefined);
    expect(delegatingProblem([{ methods: ['GET'] }])).to.equal(undefined);
    expect(delegatingProblem([{ exact: '/a' }])).to.contain('prefix');
    expect(delegatingProblem([{ prefix: '/a' }, { prefix: '/b' }])).to.contain('one matcher');
    expect(delegatingMatcher([{ methods: ['GET'] }])).to.deep.equal({ prefix: '/' });
  });
});

describe('sortRoutes', () => {
  const sorted = (...routes: Matcher[][]) =>
    sortRoutes(routes.map((matchers) => ({ matchers }))).map((one) => one.matchers);

  it('sorts by number of methods, then no path, exact, regex, prefix, then descending text', () => {
    const order: Matcher[][] = [
      [{ prefix: '/', methods: ['GET', 'POST'] }],
      [{ prefix: '/z', methods: ['GET'] }],
      [{ connectMatcher: {} }],
      [{ exact: '/b' }],
      [{ exact: '/a' }],
      [{ regex: '/x' }],
      [{ prefix: '/ab' }],
      [{ prefix: '/a' }],
    ];
    expect(sorted(...order.toReversed())).to.deep.equal(order);
  });

  it('sorts a route by its first matcher and keeps the order of equal routes', () => {
    const one = [{ prefix: '/a' }, { exact: '/e' }];
    const two = [{ exact: '/e' }];
    expect(sorted([{ prefix: '/b' }], one, two)).to.deep.equal([one, two, [{ prefix: '/b' }]]);
  });
});
