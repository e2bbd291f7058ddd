import { expect } from 'chai';
import type { StatusObject } from '../../src/resources/objects.ts';
import { LIMIT_SETS, LIMIT_TREES } from '../../src/tables/policies.ts';

const config = (raw: object): StatusObject =>
  ({
    apiVersion: 'ratelimit.vendor.io/v1alpha1',
    kind: 'RateLimitConfig',
    metadata: { name: 'a', namespace: 'gw-system' },
    spec: { raw },
  }) as unknown as StatusObject;

const limit = { requestsPerUnit: 5, unit: 'MINUTE' };

describe('the tables of RateLimitConfigs', () => {
  it('show algorithm, weight and shadow mode of rules', () => {
    const descriptors = [
      { key: 'plain', rateLimit: limit, weight: 0, alwaysApply: false, shadow: false },
      { key: 'slow', weight: 2, rateLimit: { ...limit, algorithm: 'SLIDING_WINDOW' } },
      { key: 'burst', alwaysApply: true, shadow: true, rateLimit: { ...limit, algorithm: 'TOKEN_BUCKET', burst: 9 } },
      { key: 'other', weight: 7, rateLimit: { ...limit, algorithm: 'NONE' } },
      { key: 'parent', weight: 3 },
    ];
    expect(LIMIT_TREES['Descriptors']!(config({ descriptors }), [])).to.equal(
      [
        'plain - 5 per MINUTE',
        'slow - 5 per MINUTE, sliding window, weight 2',
        'burst - 5 per MINUTE, token bucket of 9, always applies, shadow',
        'other - 5 per MINUTE, weight 7',
        'parent',
      ].join('\n'),
    );
  });

  it('show the same of sets', () => {
    const setDescriptors = [{ simpleDescriptors: [{ key: 'a', value: 'b' }], rateLimit: limit, shadow: true }];
    expect(LIMIT_SETS['Set Descriptors']!(config({ setDescriptors }), [])).to.equal('[a: b] - 5 per MINUTE, shadow');
  });
});
