import { expect } from 'chai';
import { stopAll } from '../../snapshots.ts';
import { runFlapping } from './flapping.ts';

describe('a flapping host beside two good ones', () => {
  afterEach(stopAll);

  it('costs few retries and hardly any request', async () => {
    const outlierDetection = {
      interval: '0.05s',
      consecutive5xx: 3,
      baseEjectionTime: '0.4s',
      maxEjectionPercent: 50,
    };
    const result = await runFlapping({ halfPeriodMs: 50, durationMs: 2000, outlierDetection });
    expect(result.requests).to.be.above(100);
    expect(result.successes / result.requests, JSON.stringify(result)).to.be.at.least(0.99);
    // The long suite checks the promised fifth: on a loaded machine, few requests fall into each half period.
    expect(result.retries / result.requests, JSON.stringify(result)).to.be.at.most(0.3);
    expect(result.ejections, JSON.stringify(result)).to.be.within(1, 6);
  });
});
