import { expect } from 'chai';
import { LATE, withDeadline } from '../../src/time/deadline.ts';

const never = new Promise<never>(() => {});

/** Blocks this process. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('work with a deadline', () => {
  const failure = (work: Promise<unknown>): Promise<unknown> => work.then(String, (error: unknown) => error);

  it('has its own result or error before the deadline', async () => {
    expect(await withDeadline(Promise.resolve(1), 60_000)).to.equal(1);
    const error = new Error('of the work');
    expect(await failure(withDeadline(Promise.reject(error), 60_000))).to.equal(error);
  });

  it('fails at the deadline, not before', async () => {
    const began = performance.now();
    expect(await failure(withDeadline(never, 100))).to.equal(LATE);
    expect(performance.now() - began).to.be.at.least(99);
  });

  it('is not late if this process was blocked while the result arrived', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const done = withDeadline(promise, 40);
    block(80);
    // What has arrived meanwhile is read after the timers.
    setImmediate(resolve, 'arrived');
    expect(await done).to.equal('arrived');
  });

  it('reports a result after the deadline', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    expect(await failure(withDeadline(promise, 1, late.resolve))).to.equal(LATE);
    resolve();
    await late.promise;
  });
});
