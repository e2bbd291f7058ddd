import { expect } from 'chai';
import { backoffMs } from '../../src/time/backoff.ts';

describe('the time before the next attempt', () => {
  const limits = { firstMs: 100, maxMs: 1000 };

  it('is the first one after the first failure, and doubles up to the longest', () => {
    const times = [0, 1, 2, 3, 4, 5, 6, 10_000].map((failures) => backoffMs(failures, limits));
    expect(times).to.deep.equal([100, 100, 200, 400, 800, 1000, 1000, 1000]);
    expect(backoffMs(10_000, { firstMs: 1, maxMs: Infinity })).to.equal(2 ** 30);
  });

  it('is random, from a half to all of it', () => {
    for (const [random, ms] of [
      [0, 100],
      [0.5, 150],
      [0.999, 199.9],
    ] as const)
      expect(backoffMs(2, limits, () => random)).to.equal(ms);
  });
});
