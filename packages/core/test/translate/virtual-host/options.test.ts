import { expect } from 'chai';
import type { RouteOptions } from '../../../src/schema/route/route-options.ts';
import { fillOptions } from '../../../src/translate/virtual-host/options.ts';

const own = Object.freeze({ timeout: '1s' });

describe('fillOptions', () => {
  const cases: [string, RouteOptions, RouteOptions, RouteOptions][] = [
    ['fills keys that are unset', own, { prefixRewrite: '/' }, { timeout: '1s', prefixRewrite: '/' }],
    ['keeps existing values', own, { timeout: '2s' }, own],
    [
      'fills empty texts and lists',
      { timeout: '1s', prefixRewrite: '', upgrades: [] },
      { prefixRewrite: '/' },
      { timeout: '1s', prefixRewrite: '/', upgrades: [] },
    ],
    ['treats false as a value', { autoHostRewrite: false }, { autoHostRewrite: true }, { autoHostRewrite: false }],
    [
      'does not look inside',
      { headerManipulation: {} },
      { headerManipulation: { requestHeadersToRemove: ['a'] } },
      { headerManipulation: {} },
    ],
    [
      'adds no other member of a group with one member set',
      { hostRewrite: 'a' },
      { autoHostRewrite: true, timeout: '2s' },
      { hostRewrite: 'a', timeout: '2s' },
    ],
    ['adds no prefix rewrite to a regex rewrite', { regexRewrite: {} }, { prefixRewrite: '/' }, { regexRewrite: {} }],
  ];
  for (const [name, upper, lower, expected] of cases) {
    it(name, () => {
      const [a, b] = [structuredClone(upper), structuredClone(lower)];
      expect(fillOptions(upper, lower)).to.deep.equal(expected);
      expect([upper, lower]).to.deep.equal([a, b]);
    });
  }

  it('returns a complete block unchanged', () => {
    const lower: RouteOptions = { timeout: '2s' };
    expect(fillOptions<RouteOptions>(own, lower)).to.equal(own);
    expect(fillOptions<RouteOptions>(undefined, lower)).to.equal(lower);
    expect(fillOptions<RouteOptions>({ prefixRewrite: '' }, lower)).to.equal(lower);
    expect(fillOptions<RouteOptions>(own, undefined)).to.equal(own);
  });

  const families = ['jwt', 'jwtStaged', 'jwtProvidersStaged'] as const;
  for (const own of families) {
    it(`does not add another family of JWT options to ${own}`, () => {
      const below = Object.fromEntries(families.map((family) => [family, { from: 'below' }]));
      const written = { [own]: { from: 'own' } };
      expect(fillOptions<object>(written, below)).to.deep.equal(written);
      for (const family of families) {
        expect(fillOptions<object>({ timeout: '1s' }, { [family]: {} })).to.deep.equal({ timeout: '1s', [family]: {} });
        const other = { [family]: { from: 'below' }, prefixRewrite: '/' };
        expect(fillOptions<object>(written, other), family).to.deep.equal({ ...written, prefixRewrite: '/' });
      }
    });
  }
});
