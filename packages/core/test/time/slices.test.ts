import { expect } from 'chai';
import { createYielder, runSteps } from '../../src/time/slices.ts';

describe('work in slices', () => {
  it('yields after some calls', async () => {
    const yieldIfDue = createYielder(Infinity, 3);
    const isDue = async (): Promise<boolean> => {
      const due = yieldIfDue();
      await due;
      return due !== undefined;
    };
    const calls: boolean[] = [];
    for (let i = 0; i < 6; i++) calls.push(await isDue());
    expect(calls).to.deep.equal([false, false, true, false, false, true]);
  });

  it('yields after some time', () => {
    expect(createYielder(Infinity)()).to.equal(undefined);
    expect(createYielder(0)()).to.be.an.instanceOf(Promise);
  });

  it('can be done at once', () => {
    let steps = 0;
    const result = runSteps(
      (function* () {
        for (; steps < 3; steps++) yield;
        return 'done';
      })(),
    );
    expect([result, steps]).to.deep.equal(['done', 3]);
  });
});
