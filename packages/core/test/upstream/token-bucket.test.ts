import { expect } from 'chai';
import { createLocalBucket } from '../../src/index.ts';

describe('a local bucket', () => {
  it('starts full, fills continuously, and never holds more than its maximum', () => {
    const bucket = createLocalBucket({ maxTokens: 2, tokensPerFill: 2, fillInterval: '10s' });
    expect([bucket.take(0), bucket.take(0), bucket.take(0)]).to.deep.equal([true, true, false]);
    expect([bucket.remaining, bucket.resetSeconds]).to.deep.equal([0, 5]);
    expect(bucket.take(4_999)).to.equal(false);
    expect(bucket.take(5_000)).to.equal(true);
    const taken = [1, 2, 3].map(() => bucket.take(1_000_000));
    expect(taken).to.deep.equal([true, true, false]);
  });

  it('has one token per second by default', () => {
    const bucket = createLocalBucket({ maxTokens: 1 });
    expect([bucket.take(0), bucket.take(999), bucket.take(1_000)]).to.deep.equal([true, false, true]);
  });

  it('loses and gains nothing when the clock goes back', () => {
    const bucket = createLocalBucket({ maxTokens: 1, fillInterval: '1s' });
    expect([bucket.take(10_000), bucket.take(0), bucket.take(500), bucket.take(1_000)]).to.deep.equal([
      true,
      false,
      false,
      true,
    ]);
  });

  it('is the share of a process, and tells the tokens of all', () => {
    const bucket = createLocalBucket({ maxTokens: 4, tokensPerFill: 4, fillInterval: '4s' }, 2);
    expect([bucket.take(0), bucket.remaining, bucket.take(0), bucket.remaining]).to.deep.equal([true, 2, true, 0]);
    expect([bucket.take(1_999), bucket.take(2_000)]).to.deep.equal([false, true]);
    const small = createLocalBucket({ maxTokens: 1, fillInterval: '1s' }, 4);
    expect([small.take(0), small.take(3_999), small.take(4_000)]).to.deep.equal([true, false, true]);
    expect(small.remaining).to.equal(0);
  });
});
