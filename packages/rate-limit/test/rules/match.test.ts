import { expect } from 'chai';
import type { RateLimitDescriptor, RateLimitRules } from '@edge-gateway/core/schema';
import {
  compileRules,
  createMatch,
  type Descriptor,
  type Domain,
  type Hit,
  type Limit,
} from '@edge-gateway/rate-limit';
import { seeded, type Random } from '../random.ts';
import { naiveMatch } from './naive-match.ts';

const LIMIT = { requestsPerUnit: 4, unit: 'MINUTE' } as const;
const tuple = (...entries: [string, string][]): Descriptor => ({
  isSet: false,
  entries: entries.map(([key, value]) => ({ key, value })),
});
const set = (...entries: [string, string][]): Descriptor => ({ ...tuple(...entries), isSet: true });
const rule = (key: string, more: Partial<RateLimitDescriptor> = {}): RateLimitDescriptor => ({
  key,
  rateLimit: LIMIT,
  ...more,
});

function hitsOf(rules: RateLimitRules, ...request: Descriptor[]): readonly Hit[] {
  return createMatch([compileRules(rules, { domain: 'custom' })])(request);
}
const names = (rules: RateLimitRules, ...request: Descriptor[]): string[] =>
  hitsOf(rules, ...request).map((hit) => hit.group.name);

describe('matching of tuples', () => {
  const nested: RateLimitRules = {
    descriptors: [rule('a', { descriptors: [rule('b', { value: '1' }), rule('b')] }), rule('c', { value: '1' })],
  };

  it('matches whole tuples only', () => {
    expect(names(nested, tuple(['a', 'x']))).to.deep.equal(['custom.a']);
    expect(names(nested, tuple(['a', 'x'], ['b', '2']))).to.deep.equal(['custom.a.b']);
    expect(names(nested, tuple(['a', 'x'], ['b', '2'], ['c', '1']))).to.deep.equal([]);
    expect(names(nested, tuple(['b', '1']))).to.deep.equal([]);
    expect(names(nested, tuple(['b', '1'], ['a', 'x']))).to.deep.equal([]);
    expect(names(nested, tuple())).to.deep.equal([]);
  });

  it('prefers a rule with the value', () => {
    expect(names(nested, tuple(['a', 'x'], ['b', '1']))).to.deep.equal(['custom.a.b_1']);
    expect(names(nested, tuple(['c', '2']))).to.deep.equal([]);
  });

  it('does not return to rules without the value', () => {
    const rules = { descriptors: [rule('a', { value: '1' }), rule('a', { descriptors: [rule('b')] })] };
    expect(names(rules, tuple(['a', '1'], ['b', '1']))).to.deep.equal([]);
    expect(names(rules, tuple(['a', '2'], ['b', '1']))).to.deep.equal(['custom.a.b']);
  });

  it('compares keys and values with their case', () => {
    expect(names(nested, tuple(['A', 'x']))).to.deep.equal([]);
    expect(names({ descriptors: [rule('a', { value: 'x' })] }, tuple(['a', 'X']))).to.deep.equal([]);
  });

  it('never limits tuples whose rule has no limit', () => {
    const rules = { descriptors: [{ key: 'a', value: '1', weight: 9 }, rule('a')] };
    expect(names(rules, tuple(['a', '1']))).to.deep.equal([]);
    expect(names(rules, tuple(['a', '1']), tuple(['a', '2']))).to.deep.equal(['custom.a']);
  });

  it('counts only the rules of the highest weight of all descriptors of a request', () => {
    const rules = {
      descriptors: [rule('a', { weight: 1 }), rule('b', { weight: 2 }), rule('c'), rule('d', { weight: 2 })],
    };
    const all = [tuple(['a', '1']), tuple(['b', '1']), tuple(['c', '1']), tuple(['d', '1'])];
    expect(names(rules, ...all)).to.deep.equal(['custom.b', 'custom.d']);
    expect(names(rules, all[0]!, all[2]!)).to.deep.equal(['custom.a']);
    expect(names(rules, all[2]!)).to.deep.equal(['custom.c']);
  });

  it('counts rules that always apply, whatever their weight', () => {
    const rules = {
      descriptors: [rule('a', { alwaysApply: true }), rule('b', { weight: 2 }), rule('c', { weight: 1 })],
    };
    expect(names(rules, tuple(['a', '1']), tuple(['b', '1']), tuple(['c', '1']))).to.deep.equal([
      'custom.a',
      'custom.b',
    ]);
  });

  it('does not let shadow rules suppress others', () => {
    const rules = {
      descriptors: [rule('a', { shadow: true, weight: 9 }), rule('b', { weight: 2 }), rule('c', { shadow: true })],
    };
    expect(names(rules, tuple(['a', '1']), tuple(['b', '1']), tuple(['c', '1']))).to.deep.equal([
      'custom.a',
      'custom.b',
    ]);
  });

  it('counts equal descriptors of a request each', () => {
    expect(names({ descriptors: [rule('a')] }, tuple(['a', '1']), tuple(['a', '1']))).to.deep.equal([
      'custom.a',
      'custom.a',
    ]);
  });

  it('replaces the limit of a rule, or adds one, but keeps the algorithm', () => {
    const limit: Limit = { requests: 9, unit: 'DAY', unitMs: 86_400_000, algorithm: 'FIXED_WINDOW', burst: 9 };
    const sliding = { ...LIMIT, algorithm: 'SLIDING_WINDOW' } as const;
    const rules = { descriptors: [{ key: 'a' }, rule('b', { rateLimit: sliding })] };
    const hits = hitsOf(
      rules,
      { ...tuple(['a', '1']), limit },
      { ...tuple(['b', '1']), limit },
      { ...tuple(['c', '1']), limit },
    );
    expect(hits.map((hit) => [hit.group.name, hit.limit])).to.deep.equal([
      ['custom.a', limit],
      ['custom.b', { ...limit, algorithm: 'SLIDING_WINDOW' }],
    ]);
  });

  it('charges the cost, 1 by default', () => {
    const rules = { descriptors: [rule('a')] };
    expect(
      hitsOf(rules, { ...tuple(['a', '1']), cost: 7 }, tuple(['a', '1']), { ...tuple(['a', '1']), cost: 0 }).map(
        (hit) => hit.cost,
      ),
    ).to.deep.equal([7, 1, 0]);
  });
});

describe('matching of sets', () => {
  const rules: RateLimitRules = {
    setDescriptors: [
      { simpleDescriptors: [{ key: 'a', value: '1' }, { key: 'b' }], rateLimit: LIMIT },
      { simpleDescriptors: [{ key: 'b' }], rateLimit: LIMIT },
      { simpleDescriptors: [], rateLimit: LIMIT, alwaysApply: true },
    ],
  };
  const MARKER = 'custom.generic_key_vendor.setDescriptor.uniqueValue';

  it('matches subsets in any order; the first rule wins, and those that always apply are added', () => {
    expect(names(rules, set(['b', 'x'], ['c', 'y'], ['a', '1']))).to.deep.equal([`${MARKER}.a_1.b`, MARKER]);
    expect(names(rules, set(['b', 'x'], ['a', '2']))).to.deep.equal([`${MARKER}.b`, MARKER]);
    expect(names(rules, set(['c', 'x']))).to.deep.equal([MARKER]);
    expect(names(rules, set())).to.deep.equal([MARKER]);
  });

  it('keeps tuples and sets apart', () => {
    expect(names(rules, tuple(['b', 'x']))).to.deep.equal([]);
    expect(names({ descriptors: [rule('a')] }, set(['a', '1']))).to.deep.equal([]);
  });

  it('decides for each descriptor', () => {
    expect(names(rules, set(['b', 'x']), set(['a', '1'], ['b', 'x']))).to.deep.equal([
      `${MARKER}.b`,
      MARKER,
      `${MARKER}.a_1.b`,
      MARKER,
    ]);
  });

  it('ignores weights', () => {
    const both = { ...rules, descriptors: [rule('a', { weight: 5 })] };
    expect(names(both, tuple(['a', '1']), set(['b', 'x']))).to.deep.equal(['custom.a', `${MARKER}.b`, MARKER]);
  });

  it('continues after a shadow rule', () => {
    const shadow = { setDescriptors: [{ ...rules.setDescriptors![1]!, shadow: true }, ...rules.setDescriptors!] };
    expect(names(shadow, set(['b', 'x']))).to.deep.equal([`${MARKER}.b`, `${MARKER}.b`, MARKER]);
    expect(new Set(hitsOf(shadow, set(['b', 'x'])).map((hit) => hit.key)).size).to.equal(3);
  });

  it('names counters independently of the order', () => {
    const [first] = hitsOf(rules, set(['b', 'x'], ['b', 'y'], ['a', '1']));
    const [second] = hitsOf(rules, set(['a', '1'], ['b', 'y'], ['b', 'x']));
    const [third] = hitsOf(rules, set(['a', '1'], ['b', 'y']));
    expect(first!.key).to.equal(second!.key).and.not.equal(third!.key);
  });

  it('never gives a single value the counter of several ones', () => {
    const counters = [
      set(['b', 'x']),
      set(['b', '||a|b']),
      set(['b', '|a|b']),
      set(['b', 'a'], ['b', 'b']),
      set(['b', 'a|b']),
      set(['b', 'a'], ['b', 'b'], ['b', 'c']),
    ].map((each) => hitsOf(rules, each)[0]!);
    const forged = set(['b', counters[3]!.values!]);
    counters.push(hitsOf(rules, forged)[0]!);
    expect(new Set(counters.map((hit) => hit.key)).size).to.equal(7);
    expect(new Set(counters.map((hit) => hit.values)).size).to.equal(7);
  });

  it('shares no counter with a tree of equal names', () => {
    const same = {
      descriptors: [rule('set', { descriptors: [rule('b')] })],
      setDescriptors: [{ simpleDescriptors: [{ key: 'b' }], rateLimit: LIMIT }],
    };
    const ids = compileRules(same, { domain: 'custom' }).rules.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(3);
  });

  it('finds entries of large sets', () => {
    const many = Array.from({ length: 20 }, (_, i): [string, string] => ['k', String(i)]);
    expect(names(rules, set(...many, ['a', '1'], ['b', 'x']))[0]).to.equal(`${MARKER}.a_1.b`);
    expect(names(rules, set(...many, ['a', '2']))).to.deep.equal([MARKER]);
  });
});

describe('matching of resources', () => {
  const rules = { descriptors: [rule('a')], setDescriptors: [{ simpleDescriptors: [{ key: 'a' }], rateLimit: LIMIT }] };
  const compiled = (resource: string, domain: Domain = 'vendor.io') => compileRules(rules, { domain, resource });
  const match = createMatch([compiled('x.y'), compiled('x.z')]);
  const keys = (...request: Descriptor[]): string[] => match(request).map((hit) => hit.key);

  it('selects the rules by the first entry', () => {
    expect(keys(tuple(['generic_key', 'x.y'], ['a', '1']))).to.deep.equal(['vendor.io|x.y|a|1']);
    expect(keys(tuple(['generic_key', 'x.z'], ['a', '1']))).to.deep.equal(['vendor.io|x.z|a|1']);
    expect(keys(tuple(['generic_key', 'x.w'], ['a', '1']))).to.deep.equal([]);
    expect(keys(tuple(['a', '1'], ['generic_key', 'x.y']))).to.deep.equal([]);
    expect(keys(tuple(['generic_key', 'x.y']))).to.deep.equal([]);
    expect(keys(tuple())).to.deep.equal([]);
  });

  it('leaves the resource out of its sets', () => {
    const [key] = keys(set(['generic_key', 'x.y'], ['a', '1']));
    expect(key).to.match(/^vendor\.io\|x\.y\|\*\|.*\|a\|1$/);
    expect(keys(set(['a', '1'], ['generic_key', 'x.y']))).to.deep.equal([]);
  });

  it('compares weights of all resources', () => {
    const heavy = compileRules({ descriptors: [rule('a', { weight: 3 })] }, { domain: 'vendor.io', resource: 'h.h' });
    const hits = createMatch([compiled('x.y'), heavy])([
      tuple(['generic_key', 'x.y'], ['a', '1']),
      tuple(['generic_key', 'h.h'], ['a', '1']),
    ]);
    expect(hits.map((hit) => hit.group.name)).to.deep.equal(['vendor.io.generic_key_h.h.a']);
  });
});

describe('keys of counters', () => {
  const keyOf = (value: string, isSecret?: boolean): string =>
    createMatch([compileRules({ descriptors: [rule('a')] }, { domain: 'custom' })])([
      { isSet: false, entries: [{ key: 'a', value, isSecret }] },
    ])[0]!.key;

  it('contain short plain values', () => {
    expect(keyOf('192.0.2.1')).to.equal('custom||a|192.0.2.1');
    expect(keyOf('ann@example.com')).to.equal('custom||a|ann@example.com');
  });

  it('contain hashes of long values, secrets, and others', () => {
    for (const value of ['x'.repeat(65), 'a|b', '', 'a b', 'ä', '#x', 'a=b', 'x\n', '\u0000']) {
      expect(keyOf(value)).to.match(/^custom\|\|a\|#[\w-]{22}$/, JSON.stringify(value));
    }
    expect(keyOf('secret', true))
      .to.match(/#[\w-]{22}$/)
      .and.not.contain('secret');
    expect(keyOf('x'.repeat(64))).to.contain('x'.repeat(64));
  });

  it('differ for paths and values that look alike', () => {
    const trees: RateLimitDescriptor[] = [
      rule('a', { value: 'b.c_d' }),
      rule('a', { value: 'b', descriptors: [rule('c', { value: 'd' })] }),
      rule('a', { descriptors: [rule('b')] }),
      rule('b', { descriptors: [rule('b=1')] }),
      rule('a|b'),
    ];
    const match = createMatch([
      compileRules({ descriptors: trees.slice(0, 2).concat(trees.slice(2)) }, { domain: 'custom' }),
    ]);
    const request = [
      tuple(['a', 'b.c_d']),
      tuple(['a', 'b'], ['c', 'd']),
      tuple(['a', 'x'], ['b', 'y']),
      tuple(['a', 'x|y'], ['b', '']),
      tuple(['a', 'x'], ['b', 'y|']),
      tuple(['b', 'x'], ['b=1', 'y']),
      tuple(['a|b', 'x']),
    ];
    const keys = match(request).map((hit) => hit.key);
    expect(keys).to.have.length(7);
    expect(new Set(keys).size).to.equal(7);
  });
});

describe('matching of random rules', () => {
  const randomLevel = (random: Random, depth: number): RateLimitDescriptor[] => {
    const taken = new Set<string>();
    return random
      .list(4, () => randomRule(random, depth))
      .filter(({ key, value }) => {
        const name = JSON.stringify([key, value]);
        return !taken.has(name) && taken.add(name);
      });
  };
  const randomRule = (random: Random, depth: number): RateLimitDescriptor => ({
    key: random.pick(['a', 'b', 'c', 'a|b']),
    value: random.pick([undefined, undefined, '1', '2', '', 'x|y']),
    rateLimit: random.chance(0.7) ? LIMIT : undefined,
    weight: random.pick([undefined, 0, 1, 2, 4_294_967_295]),
    alwaysApply: random.chance(0.15),
    shadow: random.chance(0.15),
    descriptors: depth > 0 ? randomLevel(random, depth - 1) : undefined,
  });
  const randomEntry = (random: Random) => ({
    key: random.pick(['a', 'b', 'c', 'a|b']),
    value: random.pick(['1', '2', '', 'x|y', 'other', 'x'.repeat(100)]),
  });

  it('equals a naive implementation, and gives each rule and values one key', () => {
    const random = seeded(20_270_101);
    let hits = 0;
    for (let round = 0; round < 2000; round++) {
      const rules: RateLimitRules = {
        descriptors: randomLevel(random, 3),
        setDescriptors: random.list(4, () => ({
          simpleDescriptors: random.list(3, () => ({
            key: random.pick(['a', 'b', 'c']),
            value: random.pick([undefined, '1', 'x|y']),
          })),
          rateLimit: random.chance(0.8) ? LIMIT : undefined,
          alwaysApply: random.chance(0.2),
          shadow: random.chance(0.2),
        })),
      };
      const compiled = compileRules(rules, { domain: 'custom' });
      const match = createMatch([compiled]);
      const sources = [...inOrder(rules.descriptors!), ...rules.setDescriptors!];
      const keyOf = new Map<string, string>();
      for (let request = 0; request < 10; request++) {
        const isSet = random.chance(0.4);
        const descriptors: Descriptor[] = [
          ...random.list(4, () => ({ isSet: false, entries: random.list(4, () => randomEntry(random)) })),
          ...random.list(isSet ? 2 : 0, () => ({ isSet: true, entries: random.list(12, () => randomEntry(random)) })),
        ];
        const actual = match(descriptors);
        const expected = naiveMatch(rules, descriptors);
        const ruleOf = (hit: Hit) => sources[compiled.rules.indexOf(hit.group)];
        expect(actual.map(ruleOf)).to.deep.equal(expected.map((hit) => hit.rule));
        expected.forEach((hit, i) => {
          const counter = JSON.stringify([sources.indexOf(hit.rule as RateLimitDescriptor), hit.values]);
          const { key } = actual[i]!;
          expect(keyOf.get(counter) ?? key).to.equal(key);
          keyOf.set(counter, key);
        });
        hits += actual.length;
      }
      expect(new Set(keyOf.values()).size).to.equal(keyOf.size);
    }
    expect(hits).to.be.greaterThan(5000);
  });

  function inOrder(level: readonly RateLimitDescriptor[]): RateLimitDescriptor[] {
    return level.flatMap((each) => [each, ...inOrder(each.descriptors ?? [])]);
  }
});

describe('matching of very large descriptors', () => {
  const match = createMatch([
    compileRules(
      {
        descriptors: [rule('a')],
        setDescriptors: Array.from({ length: 1000 }, (_, i) => ({
          simpleDescriptors: [{ key: 'k', value: `v${i}` }],
          rateLimit: LIMIT,
        })),
      },
      { domain: 'custom' },
    ),
  ]);

  it('keeps keys short for values of 1 MB', () => {
    const [hit] = match([tuple(['a', 'x'.repeat(1_048_576)])]);
    expect(hit!.key).to.have.length.below(50);
  });

  it('matches 10,000 entries and 10,000 descriptors in little time', () => {
    const entries = Array.from({ length: 10_000 }, (_, i): [string, string] => ['k', String(i)]);
    const start = performance.now();
    expect(match([tuple(...entries)])).to.deep.equal([]);
    expect(match([set(...entries)])).to.deep.equal([]);
    expect(match([set(...entries, ['k', 'v999'])])).to.have.length(1);
    expect(match(Array.from({ length: 10_000 }, () => tuple(['a', '1'])))).to.have.length(10_000);
    expect(performance.now() - start).to.be.below(2000);
  });
});
