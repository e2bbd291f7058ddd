import { expect } from 'chai';
import { createRequestLimiter } from '../../src/client/token-bucket.ts';

/** Timers may be early by less than this. */
const TOLERANCE_MS = 5;

describe('a request limiter', () => {
  it('admits a burst at once, and the others at the rate', async () => {
    const acquire = createRequestLimiter({ qps: 100, burst: 3 });
    const order: number[] = [];
    const began = performance.now();
    await Promise.all([0, 1, 2, 3, 4].map((i) => acquire().then(() => order.push(i))));
    expect(order).to.deep.equal([0, 1, 2, 3, 4]);
    expect(performance.now() - began).to.be.at.least(20 - TOLERANCE_MS);
  });

  it('saves up no more than a burst', async () => {
    const acquire = createRequestLimiter({ qps: 100, burst: 1 });
    await acquire();
    // Time for several requests.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const began = performance.now();
    for (let i = 0; i < 3; i++) await acquire();
    expect(performance.now() - began).to.be.at.least(20 - TOLERANCE_MS);
  });

  it('gives up when the signal aborts', async () => {
    const acquire = createRequestLimiter({ qps: 0.001, burst: 1 });
    const closing = new AbortController();
    await acquire(closing.signal);
    const waiting = acquire(closing.signal).then(
      () => undefined,
      (error: Error) => error.name,
    );
    closing.abort();
    expect(await waiting).to.equal('AbortError');
  });
});
