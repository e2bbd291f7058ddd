import { expect } from 'chai';
import { createYielder, runInSlices, runSteps, type Steps } from '../../src/time/slices.ts';

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

  describe('run in the background', () => {
    let steps: number;
    let hasEnded: boolean;
    beforeEach(() => {
      steps = 0;
      hasEnded = false;
    });

    function* work(count: number): Steps<string> {
      try {
        for (; steps < count; steps++) yield;
        return 'done';
      } finally {
        hasEnded = true;
      }
    }
    const never = (): boolean => false;

    it('begins at once, and lets other work run after 100 steps at most', async () => {
      const result = runInSlices(work(250), never);
      expect(steps).to.be.at.most(100);
      let turns = 0;
      let counting = setImmediate(function count() {
        turns++;
        counting = setImmediate(count);
      });
      expect(await result).to.equal('done');
      clearImmediate(counting);
      expect(turns).to.be.at.least(1);
      expect(steps).to.equal(250);
    });

    it('ends the steps when it is cancelled', async () => {
      let isCancelled = false;
      const result = runInSlices(work(250), () => isCancelled);
      isCancelled = true;
      expect(await result).to.equal(undefined);
      expect(steps).to.be.at.most(100);
      expect(hasEnded).to.equal(true);
    });

    it('rejects with the error of a step', async () => {
      const result = runInSlices(
        (function* (): Steps<void> {
          yield;
          throw new Error('broken');
        })(),
        never,
      );
      expect(await result.catch(({ message }: Error) => message)).to.equal('broken');
    });
  });
});
