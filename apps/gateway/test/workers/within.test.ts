import { expect } from 'chai';
import { within } from '../../src/workers/within.ts';

describe('waiting within a limit', () => {
  const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;

  it('ends when all have resolved, and leaves no timer', async () => {
    // The test has a timer of its own from its first pause on.
    await new Promise(setImmediate);
    const before = timers();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = within(3_600_000, [Promise.resolve(), promise]);
    expect(timers()).to.equal(before + 1);
    resolve();
    await waiting;
    expect(timers()).to.equal(before);
  });

  it('ends at the limit', () => within(1, [new Promise(() => {})]));
});
