import { expect } from 'chai';
import type { RateLimitActions, RateLimitDescriptor, RateLimitRules } from '@edge-gateway/core/schema';
import { compileActions, compileRules, createMatch } from '@edge-gateway/rate-limit';
import { indexRules, unmatchedLimits } from '../../../core/src/validate/rate-limit/unmatched-limits.ts';
import { describedRequest } from '../descriptor/described-request.ts';
import { seeded, type Random } from '../random.ts';

const KEYS = ['generic_key', 'remote_address', 'a', 'b'];
const VALUES = ['1', '2', '3'];
const rateLimit = { requestsPerUnit: 4, unit: 'MINUTE' } as const;

function randomLevel(random: Random, depth: number): RateLimitDescriptor[] {
  const seen = new Set<string>();
  return random
    .list(3, () => ({
      key: random.pick(KEYS),
      ...(random.chance(0.5) && { value: random.pick(VALUES) }),
      ...(random.chance(0.5) && { rateLimit }),
      ...(depth > 0 && { descriptors: randomLevel(random, depth - 1) }),
    }))
    .filter(({ key, value = '' }: RateLimitDescriptor) => {
      const name = `${key} ${value}`;
      return !seen.has(name) && seen.add(name);
    });
}

const randomRules = (random: Random): RateLimitRules => ({
  descriptors: randomLevel(random, 2),
  setDescriptors: random.list(2, () => ({
    simpleDescriptors: random.list(2, () => ({
      key: random.pick(KEYS),
      ...(random.chance(0.5) && { value: random.pick(VALUES) }),
    })),
    ...(random.chance(0.7) && { rateLimit }),
  })),
});

function randomLimit(random: Random): RateLimitActions {
  const action = () =>
    random.pick([
      { genericKey: { descriptorValue: random.pick(VALUES) } },
      { remoteAddress: {} },
      { requestHeaders: { headerName: 'x-a', descriptorKey: 'a' } },
      { requestHeaders: { headerName: 'x-b', descriptorKey: random.pick(KEYS) } },
    ]);
  const actions = [action(), ...random.list(2, action)];
  return random.chance(0.5) ? { actions } : { setActions: actions };
}

describe('warnings about limits that no rule matches', () => {
  it('are certain: no request hits a rule with such a limit', () => {
    const random = seeded(7);
    const values = [...VALUES, undefined];
    let reported = 0;
    let unhit = 0;
    const cases = 3_000;
    for (let i = 0; i < cases; i++) {
      const rules = randomRules(random);
      const limit = randomLimit(random);
      const match = createMatch([compileRules(rules, { domain: 'custom' })]);
      const descriptorsOf = compileActions([limit]);
      const isHit = VALUES.some((clientAddress) =>
        values.some((a) =>
          values.some((b) => {
            const headers = { ...(a && { 'x-a': a }), ...(b && { 'x-b': b }) };
            return match(descriptorsOf(describedRequest({ headers, clientAddress }))).length > 0;
          }),
        ),
      );
      const isReported = unmatchedLimits([limit], indexRules(rules)).length > 0;
      if (isReported) expect(isHit, JSON.stringify({ rules, limit })).to.equal(false);
      if (isReported) reported++;
      if (!isHit) unhit++;
    }
    // Not all are certain: two entries from one header have the same value.
    expect(reported).to.be.within(unhit * 0.9, unhit);
    expect(unhit).to.be.within(cases / 10, (cases * 9) / 10);
  });
});
