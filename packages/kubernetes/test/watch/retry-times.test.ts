import { expect } from 'chai';
import { createRetryTimes } from '../../src/watch/retry-times.ts';

const LIMITS = { firstMs: 100_000, maxMs: 400_000 };

describe('the times of retries', () => {
  it('grow with each failure of a key up to the limit, and concern no other key', () => {
    const times = createRetryTimes(LIMITS);
    const longest = [100_000, 200_000, 400_000, 400_000];
    for (const ms of longest) {
      times.failed('a');
      expect(times.remainingMs('a')).to.be.within(ms / 2 - 10_000, ms);
    }
    expect(times.remainingMs('b')).to.equal(0);
  });

  it('are at least what the API server asks for', () => {
    const times = createRetryTimes(LIMITS);
    times.failed('a', 900_000);
    expect(times.remainingMs('a')).to.be.within(890_000, 900_000);
  });

  it('are forgotten after a success, and when a key is no longer used', () => {
    const times = createRetryTimes(LIMITS);
    for (const key of ['a', 'b', 'c']) times.failed(key);
    times.succeeded('a');
    times.retain(new Set(['c']));
    expect(['a', 'b', 'c'].map((key) => times.remainingMs(key) > 0)).to.deep.equal([false, false, true]);
  });
});
