import { expect } from 'chai';
import { formatPath } from '../../../src/resource/problem.ts';
import type { RateLimitDescriptor } from '../../../src/schema/route/rate-limit.ts';
import { checkRateLimitConfig, checkRules } from '../../../src/validate/rate-limit/check-rate-limit-rules.ts';

type Rules = Parameters<typeof checkRules>[0];
const LIMIT = { requestsPerUnit: 1, unit: 'MINUTE' } as const;

const problemsOf = (rules: Rules): string[] =>
  checkRules(rules, ['spec']).map(
    ({ code, path, message, severity }) => `${severity ?? 'error'} ${code} ${formatPath(path)}: ${message}`,
  );

function nested(depth: number): RateLimitDescriptor {
  return { key: 'k', ...(depth > 1 ? { descriptors: [nested(depth - 1)] } : { rateLimit: LIMIT }) };
}

describe('the rules of rate limits', () => {
  it('accept trees with the same entry at other places, weights and sets', () => {
    const descriptors = [
      { key: 'a', value: 'x', weight: 4_294_967_295, rateLimit: LIMIT, descriptors: [{ key: 'a', value: 'x' }] },
      { key: 'a', value: 'y', descriptors: [{ key: 'a', rateLimit: { requestsPerUnit: 0, unit: 'WEEK' as const } }] },
      { key: 'a', rateLimit: LIMIT, alwaysApply: true },
      { key: 'A', value: 'x' },
    ];
    const setDescriptors = [
      { simpleDescriptors: [], rateLimit: LIMIT, alwaysApply: true },
      { simpleDescriptors: [{ key: 'a' }, { key: 'b', value: 'c' }], rateLimit: LIMIT },
      { simpleDescriptors: [{ key: 'a' }] },
    ];
    expect(problemsOf({ descriptors, setDescriptors })).to.deep.equal([]);
  });

  const cases: [string, Rules, string[]][] = [
    [
      'an unknown unit below another rule',
      { descriptors: [{ key: 'a', descriptors: [{ key: 'b', rateLimit: { requestsPerUnit: 1, unit: 'UNKNOWN' } }] }] },
      ['error INVALID_RATE_LIMIT spec.descriptors[0].descriptors[0].rateLimit.unit: UNKNOWN is not a unit of time'],
    ],
    [
      'a key with the same value twice in one list',
      { descriptors: [{ key: 'a', value: 'x' }, { key: 'a' }, { key: 'a', value: 'x' }] },
      ["error INVALID_RATE_LIMIT spec.descriptors[2]: duplicate descriptor: 'a' with the value 'x' is listed twice"],
    ],
    [
      'an empty value as no value',
      { descriptors: [{ key: 'a', value: '' }, { key: 'a' }] },
      ["error INVALID_RATE_LIMIT spec.descriptors[1]: duplicate descriptor: 'a' without a value is listed twice"],
    ],
    [
      'keys and values that are empty or too long',
      {
        descriptors: [{ key: '' }, { key: 'é'.repeat(513) }, { key: 'é'.repeat(512), value: 'x'.repeat(1024) }],
        setDescriptors: [{ simpleDescriptors: [{ key: 'a', value: 'x'.repeat(1025) }] }],
      },
      [
        'error INVALID_RATE_LIMIT spec.descriptors[0].key: key must not be empty',
        'error INVALID_RATE_LIMIT spec.descriptors[1].key: key has 1026 bytes: at most 1024 are allowed',
        'error INVALID_RATE_LIMIT spec.setDescriptors[0].simpleDescriptors[0].value: value has 1025 bytes: at most 1024 are allowed',
      ],
    ],
    [
      'sets with too many entries',
      { setDescriptors: [{ simpleDescriptors: Array.from({ length: 65 }, (_, i) => ({ key: `k${i}` })) }] },
      ['error INVALID_RATE_LIMIT spec.setDescriptors[0].simpleDescriptors: 65 entries: at most 64 are allowed'],
    ],
    [
      'sets behind one that matches their requests',
      {
        setDescriptors: [
          { simpleDescriptors: [{ key: 'a' }, { key: 'b' }] },
          { simpleDescriptors: [{ key: 'b' }, { key: 'a' }] },
          { simpleDescriptors: [{ key: 'b' }, { key: 'a' }], alwaysApply: true },
          {},
          { simpleDescriptors: [{ key: 'c' }] },
        ],
      },
      [
        'warning NO_EFFECT spec.setDescriptors[1]: the rule never applies: setDescriptors[0] matches all of its requests',
        'warning NO_EFFECT spec.setDescriptors[4]: the rule never applies: setDescriptors[3] matches all of its requests',
      ],
    ],
    [
      'a burst without a token bucket',
      { descriptors: [{ key: 'a', rateLimit: { ...LIMIT, burst: 2 } }] },
      ['warning NO_EFFECT spec.descriptors[0].rateLimit.burst: burst has no effect without algorithm TOKEN_BUCKET'],
    ],
  ];
  for (const [what, rules, problems] of cases) {
    it(`report ${what}`, () => {
      expect(problemsOf(rules)).to.deep.equal(problems);
    });
  }

  it('are nested 16 levels deep at most', () => {
    expect(problemsOf({ descriptors: [nested(16)] })).to.deep.equal([]);
    expect(problemsOf({ descriptors: [nested(17)] })).to.deep.equal([
      `error INVALID_RATE_LIMIT spec${'.descriptors[0]'.repeat(16)}.descriptors: descriptors are nested more than 16 levels deep`,
    ]);
  });

  it('are 10,000 at most, counted without recursion', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ key: 'k', value: `v${i}` }));
    const inner = [{ key: 'k', descriptors: many(4999) }];
    const setDescriptors = Array.from({ length: 5000 }, (_, i) => ({ simpleDescriptors: [{ key: `k${i}` }] }));
    expect(problemsOf({ descriptors: inner, setDescriptors })).to.deep.equal([]);
    expect(problemsOf({ descriptors: [...inner, { key: 'z' }], setDescriptors })).to.deep.equal([
      'error INVALID_RATE_LIMIT spec: more than 10000 rules in one resource',
    ]);
    expect(problemsOf({ descriptors: [nested(1000)] })).to.have.length(1);
  });
});

describe('a RateLimitConfig', () => {
  const messagesOf = (spec: Parameters<typeof checkRateLimitConfig>[0]) =>
    checkRateLimitConfig(spec, ['spec']).map(({ severity, message }) => `${severity ?? 'error'}: ${message}`);

  it('has rules, and descriptors that they match', () => {
    expect(messagesOf({})).to.deep.equal(['error: the RateLimitConfig has no rules']);
    expect(messagesOf({ raw: { rateLimits: [{ actions: [{ remoteAddress: {} }] }] } })).to.deep.equal([
      'warning: raw without descriptors and setDescriptors limits nothing',
    ]);
    expect(messagesOf({ raw: { descriptors: [{ key: 'a', rateLimit: LIMIT }] } })).to.deep.equal([
      'warning: raw without rateLimits limits nothing',
    ]);
  });
});
