import { expect } from 'chai';
import { flood } from './flood.ts';

describe('the size of the memory store, in full', () => {
  for (const algorithm of ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const) {
    it(`counts 10 million keys in 512 MB: ${algorithm}`, async () => {
      const { size, evicted, wrong, rssMb } = await flood(algorithm, 10_000_000, 512);
      expect(wrong).to.equal(0);
      expect(rssMb).to.be.below(512);
      expect(size + evicted).to.equal(10_000_000);
      // A token bucket uses 1.5 times the memory of another counter.
      if (algorithm === 'TOKEN_BUCKET') expect(size).to.be.within(5_000_000, 6_666_667);
      else expect(evicted).to.equal(0);
    }).timeout(600_000);
  }
});
