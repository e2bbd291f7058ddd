import { expect } from 'chai';
import { createBackoff } from '../../src/watch/backoff.ts';

describe('the pause before another attempt', () => {
  const { now } = performance;
  let ahead = 0;
  before(() => (performance.now = () => now.call(performance) + ahead));
  after(() => void Reflect.deleteProperty(performance, 'now'));

  it('is longer after each failure, and the first one again after a time without a failure', async () => {
    const backoff = createBackoff({ firstMs: 1, maxMs: 3_600_000, resetMs: 60_000 });
    await backoff.pause(new AbortController().signal);
    // Failures whose pauses are not waited for; the next one is longer than half an hour.
    for (let i = 0; i < 30; i++) await backoff.pause(AbortSignal.abort()).catch(() => {});
    const stopped = new AbortController();
    let isOver = false;
    const long = backoff.pause(stopped.signal).then(
      () => (isOver = true),
      () => {},
    );
    for (let i = 0; i < 10; i++) await new Promise(setImmediate);
    expect(isOver).to.equal(false);
    stopped.abort();
    await long;
    ahead = 3_600_000 + 60_001;
    await backoff.pause(new AbortController().signal);
  });
});
