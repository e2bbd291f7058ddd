import { createMetrics } from '@edge-gateway/core';
import { expect } from 'chai';
import type { StatsReport } from '../../src/workers/messages.ts';
import { createStatSums } from '../../src/workers/stat-sums.ts';

describe('the sums of statistics of workers', () => {
  it('forget the gauges of an upstream that is removed', () => {
    const metrics = createMetrics();
    const sums = createStatSums(metrics);
    const name = { path: 'cluster.a.membership_total', metric: 'membership_total' };
    const report = (value: number, removed: readonly string[] = []): StatsReport => ({
      removed,
      named: [{ id: value, type: 'gauge', name }],
      values: [[value, value]],
      usage: { residentBytes: 0, cpuSeconds: 0 },
    });
    sums.add(1, report(5));
    sums.add(2, report(5));
    expect(metrics.gauge(name).value).to.equal(5);
    sums.add(1, report(2, ['cluster.a.']));
    expect(metrics.gauge(name).value).to.equal(2);
  });
});
