import { expect } from 'chai';
import type { RateLimit, RateLimitRules } from '@edge-gateway/core/schema';
import { compileRules, ruleLines } from '@edge-gateway/rate-limit';

const LIMIT: RateLimit = { requestsPerUnit: 4, unit: 'MINUTE' };
const ofLimit = (rateLimit: object): RateLimitRules => ({ descriptors: [{ key: 'a', value: 'b', rateLimit }] });

describe('compileRules', () => {
  const invalid: readonly [string, object, string][] = [
    [
      'no unit',
      { requestsPerUnit: 4 },
      'invalid unit "undefined": must be one of SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, YEAR',
    ],
    ['the unit UNKNOWN', { ...LIMIT, unit: 'UNKNOWN' }, 'invalid unit "UNKNOWN"'],
    ['another unit', { ...LIMIT, unit: 'FORTNIGHT' }, 'invalid unit "FORTNIGHT"'],
    ['a unit that every object has', { ...LIMIT, unit: 'constructor' }, 'invalid unit "constructor"'],
    [
      'negative requests',
      { ...LIMIT, requestsPerUnit: -1 },
      'invalid requestsPerUnit -1: must be an integer from 0 to 4294967295',
    ],
    ['a fraction', { ...LIMIT, requestsPerUnit: 1.5 }, 'invalid requestsPerUnit 1.5'],
    ['too many requests', { ...LIMIT, requestsPerUnit: 2 ** 32 }, 'invalid requestsPerUnit 4294967296'],
    ['no number', { ...LIMIT, requestsPerUnit: Number.NaN }, 'invalid requestsPerUnit NaN'],
    ['another algorithm', { ...LIMIT, algorithm: 'LEAKY' }, 'invalid algorithm "LEAKY": must be one of FIXED_WINDOW'],
    ['a negative burst', { ...LIMIT, burst: -1 }, 'invalid burst -1'],
  ];
  for (const [name, limit, message] of invalid) {
    it(`rejects ${name}`, () => {
      const compile = (): unknown => compileRules(ofLimit(limit), { domain: 'custom' });
      expect(compile).to.throw(`descriptors[0].rateLimit: ${message}`).with.property('code', 'ERR_RATE_LIMIT_RULES');
    });
  }

  it('rejects two rules for the same entry, at any depth', () => {
    const twice = [{ key: 'a', value: '1' }, { key: 'a' }, { key: 'a', value: '1', rateLimit: LIMIT }];
    const compile = (descriptors: RateLimitRules['descriptors']) => () =>
      compileRules({ descriptors }, { domain: 'custom' });
    expect(compile(twice))
      .to.throw('descriptors[2]: another descriptor has the same key and value (rule custom.a_1)')
      .with.property('code', 'ERR_RATE_LIMIT_RULES');
    expect(compile([{ key: 'x', descriptors: [{ key: 'a' }, { key: 'a' }] }]))
      .to.throw('descriptors[0].descriptors[1]: another')
      .with.property('message')
      .that.contains('(rule custom.x.a)');
    expect(compile([{ key: 'a', value: '' }, { key: 'a' }])).not.to.throw();
  });

  it('rejects every request without a number of requests', () => {
    const { rules } = compileRules(ofLimit({ unit: 'DAY' }), { domain: 'custom' });
    expect(rules[0]!.limit).to.include({ requests: 0, unitMs: 86_400_000, algorithm: 'FIXED_WINDOW' });
  });
});

describe('ruleLines', () => {
  it('prints the rules of a resource as /rlconfig does', () => {
    const rules = compileRules(
      { descriptors: [{ key: 'generic_key', value: 'counter', rateLimit: LIMIT }] },
      {
        domain: 'vendor.io',
        resource: 'gw-system.my-policy',
      },
    );
    expect(ruleLines(rules)).to.deep.equal([
      'vendor.io.generic_key_gw-system.my-policy.generic_key_counter: unit=MINUTE requests_per_unit=4 weight=0 always_apply=false',
    ]);
  });

  it('prints nested rules and sets with a limit, in order', () => {
    const rules = compileRules(
      {
        descriptors: [
          {
            key: 'type',
            value: 'a',
            weight: 1,
            alwaysApply: true,
            rateLimit: LIMIT,
            descriptors: [{ key: 'number', rateLimit: LIMIT }],
          },
          { key: 'free' },
        ],
        setDescriptors: [
          { simpleDescriptors: [{ key: 'type', value: 'a' }, { key: 'number' }], rateLimit: LIMIT, alwaysApply: true },
        ],
      },
      { domain: 'custom' },
    );
    const set = 'custom.generic_key_vendor.setDescriptor.uniqueValue.type_a.number';
    expect(ruleLines(rules)).to.deep.equal([
      'custom.type_a: unit=MINUTE requests_per_unit=4 weight=1 always_apply=true',
      'custom.type_a.number: unit=MINUTE requests_per_unit=4 weight=0 always_apply=false',
      `${set}: unit=MINUTE requests_per_unit=4 weight=0 always_apply=true`,
    ]);
  });

  it('adds the settings of this gateway if they are in use', () => {
    const lines = (more: object, rule: object = {}): string[] =>
      ruleLines(
        compileRules({ descriptors: [{ key: 'a', rateLimit: { ...LIMIT, ...more }, ...rule }] }, { domain: 'custom' }),
      );
    const line = 'custom.a: unit=MINUTE requests_per_unit=4 weight=0 always_apply=false';
    expect(lines({ algorithm: 'SLIDING_WINDOW' })).to.deep.equal([`${line} algorithm=SLIDING_WINDOW`]);
    expect(lines({ algorithm: 'TOKEN_BUCKET', burst: 9 })).to.deep.equal([`${line} algorithm=TOKEN_BUCKET burst=9`]);
    expect(lines({}, { shadow: true })).to.deep.equal([`${line} shadow=true`]);
  });

  it('prints one line for a value with line breaks', () => {
    const rules = compileRules(
      { descriptors: [{ key: 'a', value: 'b\r\nc', rateLimit: LIMIT }] },
      { domain: 'custom' },
    );
    expect(ruleLines(rules)[0]).to.match(/^custom\.a_b {2}c: /);
  });
});
