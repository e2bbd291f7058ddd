import { expect } from 'chai';
import { flood } from './flood.ts';

describe('the size of the memory store', () => {
  it('keeps 500,000 counters outside of a small heap', async () => {
    const { size, evicted, wrong, rssMb } = await flood('FIXED_WINDOW', 500_000, 32);
    expect({ size, evicted, wrong }).to.deep.equal({ size: 500_000, evicted: 0, wrong: 0 });
    expect(rssMb).to.be.below(200);
  });
});
