import { createContext, silentLoggers } from '@edge-gateway/core';
import { expect } from 'chai';
import { compileRules } from '@edge-gateway/rate-limit';
import { limiterSource } from '../../src/concern/limiter-source.ts';
import type { Decision } from '../../src/limiter.ts';

const rules = {
  descriptors: [{ key: 'plan', rateLimit: { requestsPerUnit: 1, unit: 'HOUR' as const } }],
};

describe('the counters of a gateway', () => {
  it('are bounded in a flood of header values, with a warning and a metric', () => {
    const warnings: string[] = [];
    const silent = silentLoggers.get('filter');
    const log = {
      ...silentLoggers,
      get: () => ({ ...silent, warn: (_f: object, m: string) => void warnings.push(m) }),
    };
    const context = createContext({ log: log as never, now: () => 1 });
    const limiterOf = limiterSource({ maxKeys: 1000 }, context, undefined);
    const limiter = limiterOf('custom', [compileRules(rules, { domain: 'custom' })]);
    const allows = (value: string): boolean =>
      (limiter.check('custom', [{ entries: [{ key: 'plan', value }], isSet: false }], 100) as Decision).isAllowed;
    const evicted = (): number =>
      context.metrics.counter({
        path: 'ratelimit.vendor.io.counters_evicted',
        metric: 'ratelimit_vendor_io_counters_evicted',
      }).value;
    for (let i = 0; i < 1000; i++) allows(`value ${i}`);
    expect(evicted()).to.equal(0);
    for (let i = 1000; i < 10_000; i++) allows(`value ${i}`);
    expect(evicted()).to.be.within(9000, 9700);
    expect(allows('value 9999'), 'the newest are kept').to.equal(false);
    expect(warnings).to.deep.equal(['too many rate limit counters, oldest evicted']);
  });
});
