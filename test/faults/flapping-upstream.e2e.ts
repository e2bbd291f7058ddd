import { expect } from 'chai';
import { runFlapping } from '../../packages/routing/test/upstream/health/flapping.ts';
import { stopAll } from '../../packages/routing/test/snapshots.ts';

describe('a flapping upstream under traffic', () => {
  afterEach(stopAll);

  it('1 Hz for 30 s: at least 99 % of the requests succeed, with at most 20 % retries', async () => {
    const outlierDetection = {
      interval: '1s',
      consecutive5xx: 5,
      baseEjectionTime: '5s',
      maxEjectionPercent: 50,
    };
    const result = await runFlapping({ halfPeriodMs: 500, durationMs: 30_000, outlierDetection });
    expect(result.requests).to.be.above(1000);
    expect(result.successes / result.requests, JSON.stringify(result)).to.be.at.least(0.99);
    expect(result.retries / result.requests, JSON.stringify(result)).to.be.at.most(0.2);
    expect(result.ejections, JSON.stringify(result)).to.be.within(1, 6);
  });
});
