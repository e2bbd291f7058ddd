import { expect } from 'chai';
import { heapAfter, mockedAnswerer } from './memory-run.ts';

const STEP = 40_000;
const STEPS = 5;
const BOUND = 16 * 1024 * 1024;

describe('memory', function () {
  this.timeout(900_000);

  it('stays constant over many different queries', async () => {
    const answerer = mockedAnswerer();
    // Twice what the largest cache holds, so that all of them are full before it counts.
    const full = await heapAfter(answerer, { from: 0, to: 20_000, shapes: Infinity });
    const after = await heapAfter(answerer, { from: 20_000, to: 120_000, shapes: Infinity });
    expect(after - full).to.be.below(BOUND);
  });

  // `npm run bench -- graphql-memory` asks a million.
  it('stays constant over many queries of ten thousand shapes', async () => {
    const answerer = mockedAnswerer();
    const heaps: number[] = [];
    for (let step = 0; step < STEPS; step++) {
      heaps.push(await heapAfter(answerer, { from: step * STEP, to: (step + 1) * STEP, shapes: 10_000 }));
    }
    expect(Math.max(...heaps) - heaps[0]!).to.be.below(BOUND);
  });
});
