import { createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import { createDecisionStats } from '../../src/concern/rule-stats.ts';
import type { RuleOutcome } from '../../src/limiter.ts';
import { limitOf } from '../store/limits.ts';

const outcome = (remaining: number, more: Partial<RuleOutcome> = {}): RuleOutcome => ({
  rule: 'custom.a',
  limit: limitOf(10),
  isShadow: false,
  isOver: false,
  remaining,
  resetMs: 0,
  ...more,
});

describe('the statistics of rules', () => {
  const counted = (...outcomes: RuleOutcome[]) => {
    const metrics = createMetrics();
    const stats = createDecisionStats(metrics);
    for (const each of outcomes) stats.count({ isAllowed: true, outcomes: [each] });
    const valueOf = (name: string) =>
      metrics.counter({ path: `ratelimit.vendor.io.${name}.custom.a`, metric: '' }).value;
    return ['total_hits', 'near_limit', 'over_limit', 'shadow_mode'].map(valueOf);
  };

  it('count requests beyond 80 % of a limit as near it', () => {
    expect(counted(outcome(9), outcome(2))).to.deep.equal([2, 0, 0, 0]);
    expect(counted(outcome(1), outcome(0))).to.deep.equal([2, 2, 0, 0]);
  });

  it('count requests over a limit, and those of a rule that only counts in addition', () => {
    expect(counted(outcome(0, { isOver: true }))).to.deep.equal([1, 0, 1, 0]);
    expect(counted(outcome(0, { isOver: true, isShadow: true }))).to.deep.equal([1, 0, 1, 1]);
    expect(counted(outcome(9, { isShadow: true }))).to.deep.equal([1, 0, 0, 0]);
  });

  it('are bounded for rules that only a rate limit server names', () => {
    const metrics = createMetrics();
    const stats = createDecisionStats(metrics);
    const names = Array.from({ length: 3000 }, (_, i) => `foreign.${i}`);
    for (const rule of [...names, 'x'.repeat(257), ...names]) {
      stats.count({ isAllowed: true, outcomes: [outcome(9, { rule, isForeign: true })] });
    }
    stats.count({ isAllowed: true, outcomes: [outcome(9, { rule: 'custom.own' })] });
    const hits = new Map(
      metrics
        .list()
        .filter(({ name }) => name.metric.endsWith('total_hits'))
        .map(({ name, stat }) => [name.labels?.descriptor, (stat as { value?: number }).value]),
    );
    expect(hits.size).to.equal(1002);
    expect(hits.get('foreign.0')).to.equal(2);
    expect(hits.get('other')).to.equal(4001);
    expect(hits.get('custom.own')).to.equal(1);
  });
});
