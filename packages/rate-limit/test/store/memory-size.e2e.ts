import { expect } from 'chai';
import { flood } from './flood.ts';

describe('the size of the memory store, in full', () => {
  for (const algorithm of ['FIXED_WINDOW', 'SLIDING_WINDOW'] as const) {
    it(`keeps 10 million counters in 512 MB: ${algorithm}`, async () => {
      const { size, evicted, wrong, rssMb } = await flood(algorithm, 10_000_000, 512);
      expect({ size, evicted, wrong }).to.deep.equal({ size: 10_000_000, evicted: 0, wrong: 0 });
      expect(rssMb).to.be.below(512);
    });
  }
});
