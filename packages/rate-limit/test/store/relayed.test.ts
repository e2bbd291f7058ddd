import { mock } from 'node:test';
import { expect } from 'chai';
import { countBatch, createMemoryStore, createRelayedStore, type ChargedBatch, type Limit } from '../../src/index.ts';

const limit = (requests: number): Limit => ({
  requests,
  unit: 'MINUTE',
  unitMs: 60_000,
  algorithm: 'FIXED_WINDOW',
  burst: requests,
});

describe('counters in another process', () => {
  /** Resolves with what a call rejects with. */
  const failure = async (call: unknown): Promise<Error & { code: string }> => {
    try {
      await call;
    } catch (error) {
      return error as Error & { code: string };
    }
    throw new Error('it did not reject');
  };

  it('accept as many charges again after those that failed', async () => {
    const store = createRelayedStore({ send: () => false, maxWaiting: 1 });
    for (let i = 0; i < 3; i++) {
      const { message } = await failure(store.count([{ key: 'a', limit: limit(1), cost: 1 }], 1000));
      expect(message).to.include('the counting process has ended');
    }
    store.close();
  });

  it('do not count the deadline of a response that arrived', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const memory = createMemoryStore({ now: () => 1_000 });
      let answers = true;
      const store = createRelayedStore({
        send(batch) {
          if (answers) setImmediate(() => store.settle(countBatch(memory, batch)));
          return true;
        },
        maxWaiting: 1,
      });
      const charges = [{ key: 'a', limit: limit(9), cost: 1 }];
      await store.count(charges, 1000);
      mock.timers.tick(1000);
      answers = false;
      const waiting = failure(store.count(charges, 1000));
      const { message } = await failure(store.count(charges, 1000));
      expect(message).to.include('too many checks are waiting');
      store.close();
      await waiting;
    } finally {
      mock.timers.reset();
    }
  });

  it('count the charges of one turn in one message, in order', async () => {
    const memory = createMemoryStore({ now: () => 1_000 });
    const sent: ChargedBatch[] = [];
    const store = createRelayedStore({
      send(batch) {
        sent.push(structuredClone(batch));
        setImmediate(() => store.settle(structuredClone(countBatch(memory, batch))));
        return true;
      },
    });
    const [two, one] = [limit(2), limit(1)];
    const calls = [
      store.count([{ key: 'a', limit: two, cost: 1 }], 1000),
      store.count(
        [
          { key: 'a', limit: two, cost: 1 },
          { key: 'b', limit: one, cost: 1 },
        ],
        1000,
      ),
      store.count([{ key: 'a', limit: two, cost: 1 }], 1000),
    ];
    const counts = await Promise.all(calls);
    expect(counts.map((each) => each.map(({ isOver, remaining }) => [isOver, remaining]))).to.deep.equal([
      [[false, 1]],
      [
        [false, 0],
        [false, 0],
      ],
      [[true, 0]],
    ]);
    expect(counts[0]![0]!.resetMs).to.equal(59_000);
    expect(sent).to.have.length(1);
    expect(sent[0]).to.deep.include({ keys: ['a', 'a', 'b', 'a'], limitOf: [0, 0, 1, 0] });
    expect(sent[0]!.limits).to.have.length(2);
    store.close();
  });

  it('reject without a response, without a process, when too many wait, and when they are closed', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length;
    const charge = { key: 'a', limit: limit(1), cost: 1 };
    const silent = createRelayedStore({ send: () => true, maxWaiting: 2 });
    const late = silent.count([charge], 5);
    const waiting = silent.count([charge], 5);
    expect((await failure(silent.count([charge], 5))).message).to.include('too many checks are waiting');
    expect((await failure(late)).code).to.equal('ERR_RATE_LIMIT_STORE');
    expect((await failure(waiting)).message).to.include('no response');
    // A response that is too late is ignored.
    silent.settle({ id: 1, left: [1, 1], resetMs: [1, 1] });
    const three = [charge, charge, charge];
    expect((await failure(silent.count(three, 5))).message).to.include('too many checks are waiting');
    const before = timers();
    const open = silent.count([charge], 60_000);
    await new Promise(setImmediate);
    expect(timers()).to.equal(before + 1);
    silent.close();
    expect(timers()).to.equal(before);
    expect((await failure(open)).code).to.equal('ERR_RATE_LIMIT_STORE');
    expect((await failure(silent.count([charge], 5))).message).to.include('closed');
    const gone = createRelayedStore({ send: () => false });
    expect((await failure(gone.count([charge], 5))).message).to.include('the counting process has ended');
    gone.close();
  });
});
