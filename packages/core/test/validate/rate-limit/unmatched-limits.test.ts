import { expect } from 'chai';
import { formatPath } from '../../../src/resource/problem.ts';
import type { RateLimitActions, RateLimitRules } from '../../../src/schema/route/rate-limit.ts';
import { checkRateLimitConfig } from '../../../src/validate/rate-limit/check-rate-limit-rules.ts';
import { indexRules, unmatchedLimits } from '../../../src/validate/rate-limit/unmatched-limits.ts';

const rateLimit = { requestsPerUnit: 1, unit: 'MINUTE' } as const;
const generic = (descriptorValue: string) => ({ genericKey: { descriptorValue } });
const header = (descriptorKey: string) => ({ requestHeaders: { headerName: 'x-a', descriptorKey } });
const remote = { remoteAddress: {} };

function found(limit: RateLimitActions, rules: RateLimitRules): string[] {
  return unmatchedLimits([limit], indexRules(rules)).map(({ path, message }) => `${formatPath(path)}: ${message}`);
}
const text = (path: string, reason: string) => [`${path}: these actions limit no request: ${reason}`];

describe('limits that no rule matches', () => {
  const tree: RateLimitRules = {
    descriptors: [
      { key: 'remote_address', rateLimit },
      { key: 'generic_key', value: 'login', descriptors: [{ key: 'remote_address', rateLimit }] },
      { key: 'plan', value: 'free', descriptors: [{ key: 'user', rateLimit }] },
      { key: 'plan', value: 'gold' },
      { key: 'header_match', rateLimit },
      { key: 'header_match', value: 'batch', descriptors: [{ key: 'user', rateLimit }] },
      { key: 'source_cluster', rateLimit },
      { key: 'destination_cluster', value: 'a', rateLimit },
    ],
  };
  const metadata = { metadata: { descriptorKey: 'plan', metadataKey: { key: 'a' }, defaultValue: 'none' } };
  const matching = (descriptorValue: string) => ({ headerValueMatch: { descriptorValue, headers: [{ name: 'a' }] } });

  const tuples: [string, RateLimitActions, string[]][] = [
    ['an address with a rule', { actions: [remote] }, []],
    ['a known value with a rule', { actions: [generic('login'), remote] }, []],
    ['a value of a request that may have a rule', { actions: [header('plan'), header('user')] }, []],
    ['metadata with a default that has no rule', { actions: [metadata, header('user')] }, []],
    ['a value that has no rule, beside a rule for any', { actions: [matching('other')] }, []],
    ['clusters', { actions: [{ sourceCluster: {} }] }, []],
    ['the cluster of the route', { actions: [{ destinationCluster: {} }] }, []],
    ['an unknown key', { actions: [header('tenant')] }, text('[0].actions[0]', "no descriptor has 'tenant'")],
    [
      'an unknown value',
      { actions: [generic('search'), remote] },
      text('[0].actions[0]', "no descriptor has 'generic_key' with the value 'search'"),
    ],
    [
      'another order',
      { actions: [remote, generic('login')] },
      text('[0].actions[1]', "no descriptor has 'generic_key' with the value 'login' after 'remote_address'"),
    ],
    [
      'a tuple that is longer than its rule',
      { actions: [header('plan'), header('user'), remote] },
      text('[0].actions[2]', "no descriptor has 'remote_address' after 'plan', 'user'"),
    ],
    [
      'a tuple that ends before its limit',
      { actions: [header('plan')] },
      text('[0].actions', "no descriptor for 'plan' has a rateLimit"),
    ],
    [
      'a value whose own rule, preferred to the one for any, has no limit',
      { actions: [matching('batch')] },
      text('[0].actions', "no descriptor for 'header_match' with the value 'batch' has a rateLimit"),
    ],
    [
      'a set where only tuples have rules',
      { setActions: [remote] },
      text('[0].setActions', "no setDescriptors match 'remote_address'"),
    ],
  ];
  for (const [name, limit, expected] of tuples) {
    it(`${expected.length > 0 ? 'reports' : 'accepts'} ${name}`, () => {
      expect(found(limit, tree)).to.deep.equal(expected);
    });
  }

  it('accepts a limit of the request for a rule without one', () => {
    const own = { limit: { dynamicMetadata: { metadataKey: { key: 'a' } } } };
    expect(found({ actions: [header('plan')], ...own }, tree)).to.deep.equal([]);
    expect(found({ actions: [header('tenant')], ...own }, tree)).to.have.length(1);
  });

  it('treats an empty value as any', () => {
    expect(
      found({ actions: [generic('a')] }, { descriptors: [{ key: 'generic_key', value: '', rateLimit }] }),
    ).to.deep.equal([]);
  });

  const sets = (...simple: { key: string; value?: string }[][]): RateLimitRules => ({
    setDescriptors: simple.map((simpleDescriptors) => ({ simpleDescriptors, rateLimit })),
  });
  it('accepts sets that contain the entries of a rule, in any order', () => {
    const rules = sets([{ key: 'remote_address' }, { key: 'generic_key', value: 'a' }]);
    expect(found({ setActions: [generic('a'), header('x'), remote] }, rules)).to.deep.equal([]);
    expect(found({ setActions: [generic('a'), header('x')] }, rules)).to.have.length(1);
    expect(found({ setActions: [generic('b'), remote] }, rules)).to.have.length(1);
    expect(found({ setActions: [header('generic_key'), remote] }, rules)).to.deep.equal([]);
  });

  it('accepts every set if a rule has no entries, and no set if such a rule has no limit', () => {
    expect(found({ setActions: [remote] }, sets([]))).to.deep.equal([]);
    expect(
      found({ setActions: [remote] }, { setDescriptors: [{ simpleDescriptors: [], alwaysApply: true }] }),
    ).to.have.length(1);
    expect(found({ setActions: [remote] }, { setDescriptors: [{ alwaysApply: true, rateLimit }] })).to.deep.equal([]);
  });

  it('reports both lists of one limit', () => {
    expect(found({ actions: [remote], setActions: [remote] }, {}).map((each) => each.split(':')[0])).to.deep.equal([
      '[0].actions[0]',
      '[0].setActions',
    ]);
  });

  it('shortens long keys and values', () => {
    const [message = ''] = found({ actions: [generic('x'.repeat(1_024))] }, {});
    expect(message.length).to.be.lessThan(250);
  });

  it('are warnings of a RateLimitConfig, at the action', () => {
    const raw = { ...tree, rateLimits: [{ actions: [remote] }, { actions: [header('tenant')] }] };
    const problems = checkRateLimitConfig({ raw }, ['spec']);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.deep.include({
      code: 'NO_EFFECT',
      severity: 'warning',
      path: ['spec', 'raw', 'rateLimits', 1, 'actions', 0],
      message: "these actions limit no request: no descriptor has 'tenant'",
    });
  });

  it('are not searched for in an invalid RateLimitConfig', () => {
    let descriptors: NonNullable<RateLimitRules['descriptors']> = [{ key: 'a', rateLimit }];
    for (let i = 0; i < 20_000; i++) descriptors = [{ key: 'a', descriptors }];
    const problems = checkRateLimitConfig({ raw: { descriptors, rateLimits: [{ actions: [remote] }] } }, ['spec']);
    expect(problems.map(({ code }) => code)).to.deep.equal(['INVALID_RATE_LIMIT']);
  });
});
