import { expect } from 'chai';
import type { RateLimit, RateLimitRules } from '@edge-gateway/core/schema';
import {
  compileRules,
  createMemoryStore,
  embeddedLimiter,
  strictestOutcome,
  type Decision,
  type Descriptor,
  type Domain,
  type Limiter,
  type Store,
} from '@edge-gateway/rate-limit';

const perMinute = (requestsPerUnit: number): RateLimit => ({ requestsPerUnit, unit: 'MINUTE' });
const tuple = (...entries: [string, string][]): Descriptor => ({
  isSet: false,
  entries: entries.map(([key, value]) => ({ key, value })),
});
const NOW = Date.UTC(2027, 0, 1);

function limiterOf(rules: RateLimitRules, store: Store = createMemoryStore({ now: () => NOW })): Limiter {
  return embeddedLimiter({ ruleSets: { custom: [compileRules(rules, { domain: 'custom' })] }, store });
}

/** The decision of a limiter whose store is in memory. */
function check(limiter: Limiter, descriptors: readonly Descriptor[], domain: Domain = 'custom'): Decision {
  const decision = limiter.check(domain, descriptors, 100);
  if (decision instanceof Promise) throw new Error('expected a value');
  return decision;
}

describe('embeddedLimiter', () => {
  it('allows as many requests as the limit', () => {
    const limiter = limiterOf({ descriptors: [{ key: 'user', rateLimit: perMinute(3) }] });
    const allowed = Array.from({ length: 5 }, () => check(limiter, [tuple(['user', 'ann'])]).isAllowed);
    expect(allowed).to.deep.equal([true, true, true, false, false]);
    expect(check(limiter, [tuple(['user', 'bob'])]).isAllowed).to.equal(true);
  });

  it('returns the outcome of every rule', () => {
    const limiter = limiterOf({
      descriptors: [
        { key: 'user', rateLimit: perMinute(3) },
        { key: 'path', value: '/login', rateLimit: { requestsPerUnit: 1, unit: 'HOUR' } },
      ],
    });
    const { isAllowed, outcomes } = check(limiter, [tuple(['user', 'ann']), tuple(['path', '/login'])]);
    expect(isAllowed).to.equal(true);
    expect(outcomes.map(({ rule, remaining, resetMs }) => [rule, remaining, resetMs])).to.deep.equal([
      ['custom.user', 2, 60_000],
      ['custom.path_/login', 0, 3_600_000],
    ]);
  });

  it('rejects a request that is over any of its limits, and counts the others', () => {
    const limiter = limiterOf({
      descriptors: [
        { key: 'a', rateLimit: perMinute(0) },
        { key: 'b', rateLimit: perMinute(2) },
      ],
    });
    const first = check(limiter, [tuple(['a', '1']), tuple(['b', '1'])]);
    expect(first.isAllowed).to.equal(false);
    expect(first.outcomes.map((each) => each.remaining)).to.deep.equal([0, 1]);
  });

  it('counts but does not reject with a shadow rule', () => {
    const limiter = limiterOf({ descriptors: [{ key: 'user', shadow: true, rateLimit: perMinute(1) }] });
    check(limiter, [tuple(['user', 'ann'])]);
    const { isAllowed, outcomes } = check(limiter, [tuple(['user', 'ann'])]);
    expect(isAllowed).to.equal(true);
    expect(outcomes[0]).to.include({ isOver: true, isShadow: true, remaining: 0 });
    expect(strictestOutcome({ isAllowed, outcomes })).to.equal(undefined);
  });

  it('allows requests that no rule matches, without a call of the store', () => {
    const store: Store = { count: () => expect.fail('called'), close() {} };
    const limiter = limiterOf({ descriptors: [{ key: 'user', rateLimit: perMinute(1) }] }, store);
    expect(check(limiter, [tuple(['other', 'ann'])])).to.deep.equal({ isAllowed: true, outcomes: [] });
    expect(check(limiter, [tuple(['user', 'ann'])], 'basic').isAllowed).to.equal(true);
    expect(check(limiter, [], 'vendor.io').isAllowed).to.equal(true);
  });

  it('awaits a store that is not in memory, with its deadline, in one call for all rules', async () => {
    const calls: [readonly string[], number][] = [];
    const store: Store = {
      async count(charges, deadlineMs) {
        calls.push([charges.map((each) => each.key), deadlineMs]);
        return charges.map(() => ({ isOver: true, remaining: 0, resetMs: 5 }));
      },
      close() {},
    };
    const limiter = limiterOf(
      {
        descriptors: [
          { key: 'a', rateLimit: perMinute(9) },
          { key: 'b', rateLimit: perMinute(9) },
        ],
      },
      store,
    );
    const { isAllowed } = await limiter.check('custom', [tuple(['a', '1']), tuple(['b', '2'])], 250);
    expect(isAllowed).to.equal(false);
    expect(calls).to.deep.equal([[['custom||a|1', 'custom||b|2'], 250]]);
  });

  it('passes the failure of a store on', async () => {
    const store: Store = { count: () => Promise.reject(new Error('down')), close() {} };
    const limiter = limiterOf({ descriptors: [{ key: 'a', rateLimit: perMinute(9) }] }, store);
    const error = await Promise.resolve(limiter.check('custom', [tuple(['a', '1'])], 250)).catch(
      (error: Error) => error,
    );
    expect(error).to.have.property('message', 'down');
  });

  it('keeps the counters of resources apart', () => {
    const rules = { descriptors: [{ key: 'user', rateLimit: perMinute(1) }] };
    const ruleSets = ['a.b', 'a.c'].map((resource) => compileRules(rules, { domain: 'vendor.io', resource }));
    const limiter = embeddedLimiter({
      ruleSets: { 'vendor.io': ruleSets },
      store: createMemoryStore({ now: () => NOW }),
    });
    const request = (resource: string): boolean =>
      check(limiter, [tuple(['generic_key', resource], ['user', 'ann'])], 'vendor.io').isAllowed;
    expect([request('a.b'), request('a.c'), request('a.b'), request('a.c')]).to.deep.equal([true, true, false, false]);
    expect(request('a.d')).to.equal(true);
  });
});

describe('strictestOutcome', () => {
  const limit = { requests: 9, unit: 'MINUTE', unitMs: 60_000, algorithm: 'FIXED_WINDOW', burst: 9 } as const;
  const outcome = (rule: string, remaining: number, resetMs: number, isOver = false, isShadow = false) => ({
    rule,
    limit,
    remaining,
    resetMs,
    isOver,
    isShadow,
  });
  const strictest = (...outcomes: ReturnType<typeof outcome>[]): string | undefined =>
    strictestOutcome({ isAllowed: true, outcomes })?.rule;

  it('prefers a limit that is exceeded, then the fewest requests left, then the last reset', () => {
    expect(strictest(outcome('a', 0, 1), outcome('b', 5, 1, true))).to.equal('b');
    expect(strictest(outcome('a', 2, 1), outcome('b', 1, 1), outcome('c', 3, 1))).to.equal('b');
    expect(strictest(outcome('a', 0, 1, true), outcome('b', 0, 9, true), outcome('c', 0, 5, true))).to.equal('b');
    expect(strictest(outcome('a', 5, 1), outcome('b', 0, 1, true, true))).to.equal('a');
    expect(strictest()).to.equal(undefined);
  });
});
