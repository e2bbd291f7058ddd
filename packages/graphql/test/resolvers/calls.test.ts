import { expect } from 'chai';
import { DEFAULT_LIMITS } from '../../src/document/limits.ts';
import { CallBudget } from '../../src/resolvers/calls.ts';

const { signal } = new AbortController();

describe('the budget of calls', () => {
  it('limits concurrency, in order, also after failures', async () => {
    const budget = new CallBudget({ ...DEFAULT_LIMITS, maxConcurrentCalls: 2 });
    const begun: number[] = [];
    let underWay = 0;
    let most = 0;
    const call = (i: number) => (): Promise<number> => {
      begun.push(i);
      if (i % 3 === 2) throw new Error(`thrown ${i}`);
      most = Math.max(most, ++underWay);
      return new Promise((resolve, reject) => {
        setImmediate(() => {
          underWay--;
          if (i % 3 === 1) reject(new Error(`rejected ${i}`));
          else resolve(i);
        });
      });
    };
    const made = await Promise.allSettled(Array.from({ length: 9 }, (_, i) => budget.run(call(i), signal)));
    expect(begun).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(most).to.equal(2);
    expect(made.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))).to.deep.equal(
      [0, 1, 2].flatMap((n) => [3 * n, `rejected ${3 * n + 1}`, `thrown ${3 * n + 2}`]),
    );
  });

  it('rejects waiting calls when the operation ends', async () => {
    const budget = new CallBudget({ ...DEFAULT_LIMITS, maxConcurrentCalls: 1, maxUpstreamCalls: 0 });
    const over = new AbortController();
    const first = budget.run(() => new Promise<void>((resolve) => setImmediate(resolve)), over.signal);
    const others = Array.from({ length: 10_000 }, () => budget.run(() => Promise.resolve(), over.signal));
    over.abort();
    await first;
    const codes = new Set((await Promise.allSettled(others)).map((one) => (one as PromiseRejectedResult).reason.code));
    expect([...codes]).to.deep.equal(['ERR_GRAPHQL_TIMEOUT']);
  });

  it('rejects calls above the maximum of an operation', async () => {
    const budget = new CallBudget({ ...DEFAULT_LIMITS, maxUpstreamCalls: 1 });
    expect(await budget.run(async () => 'a', signal)).to.equal('a');
    const refused = await budget.run(async () => 'b', signal).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'ERR_GRAPHQL_LIMIT');
  });
});
