import { expect } from 'chai';
import { createMemoryStore, type Limit } from '@edge-gateway/rate-limit';
import { limitOf } from './limits.ts';

const START = Date.UTC(2027, 0, 1, 12);
const ALGORITHMS = ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const;

/** A store with one rule, whose keys become hot when they are used twice. */
function ruled(options: { maxKeys?: number } = {}) {
  const clock = { ms: 0 };
  const store = createMemoryStore({ ...options, now: () => START + clock.ms });
  const group: { id: string; memo?: object } = { id: 'custom||user' };
  const remaining = (limit: Limit, values: string, isSecret = false): number =>
    store.count([{ key: `${group.id}|${values}`, group, values, isSecret, limit, cost: 1 }])[0]!.remaining;
  const hotKeys = (): string[] => [...((group.memo as { hot: Map<string, unknown> } | undefined)?.hot.keys() ?? [])];
  return { clock, store, remaining, hotKeys };
}

describe('hot keys of the memory store', () => {
  it('are those that were used twice, and are short', () => {
    const { remaining, hotKeys } = ruled();
    const limit = limitOf(9);
    const long = 'x'.repeat(65);
    for (const values of ['a', 'a', 'b', long, long, '\u{1F600}', '\u{1F600}', '\u00e4', '\u00e4'])
      remaining(limit, values);
    expect(hotKeys()).to.deep.equal(['a', '\u00e4']);
    expect([remaining(limit, long), remaining(limit, '\u{1F600}'), remaining(limit, 'a')]).to.deep.equal([6, 6, 6]);
  });

  it('are no secrets', () => {
    const { remaining, hotKeys } = ruled();
    for (let left = 8; left > 0; left--) expect(remaining(limitOf(9), 'secret', true)).to.equal(left);
    expect(hotKeys()).to.deep.equal([]);
  });

  for (const algorithm of ALGORITHMS) {
    it(`count exactly while others make the tables grow: ${algorithm}`, () => {
      const { remaining } = ruled();
      const limit = limitOf(100_000, 'HOUR', algorithm);
      for (let i = 0; i < 20_000; i++) {
        if (i % 10 === 0) expect(remaining(limit, 'hot')).to.equal(99_999 - i / 10);
        remaining(limit, `other${i}`);
      }
    });

    it(`count exactly if there are too many: ${algorithm}`, () => {
      const { remaining, hotKeys } = ruled();
      const limit = limitOf(9, 'HOUR', algorithm);
      for (let left = 8; left >= 5; left--) {
        let wrong = 0;
        for (let i = 0; i < 10_000; i++) if (remaining(limit, `k${i}`) !== left) wrong++;
        expect(wrong).to.equal(0);
        expect(hotKeys().length).to.be.at.most(8192);
      }
    });

    it(`keep their counts while floods evict others: ${algorithm}`, () => {
      const { remaining, store } = ruled({ maxKeys: 3000 });
      const limit = limitOf(1000, 'HOUR', algorithm);
      for (let i = 0; i < 50_000; i++) {
        if (i % 100 === 0) expect(remaining(limit, 'hot')).to.equal(999 - i / 100);
        remaining(limit, `flood${i}`);
        if (i % 3 === 0) remaining(limit, `flood${i}`);
      }
      expect(store.size).to.be.at.most(3000);
    });

    it(`are separate for each limit of a rule: ${algorithm}`, () => {
      const { remaining } = ruled();
      const [first, second] = [limitOf(9, 'HOUR', algorithm), limitOf(7, 'DAY', algorithm)];
      for (let i = 1; i < 6; i++) {
        expect(remaining(first, 'a')).to.equal(9 - i);
        expect(remaining(second, 'a')).to.equal(7 - i);
      }
    });
  }

  it('start anew in each window', () => {
    const { clock, remaining } = ruled();
    const limit = limitOf(9);
    const twice = (): number[] => [remaining(limit, 'a'), remaining(limit, 'a'), remaining(limit, 'a')];
    expect(twice()).to.deep.equal([8, 7, 6]);
    clock.ms = 60_000;
    expect(twice()).to.deep.equal([8, 7, 6]);
  });

  it('count the previous sliding window', () => {
    const { clock, remaining } = ruled();
    const limit = limitOf(100, 'MINUTE', 'SLIDING_WINDOW');
    for (let i = 0; i < 50; i++) remaining(limit, 'a');
    clock.ms = 60_000;
    expect([remaining(limit, 'a'), remaining(limit, 'a')]).to.deep.equal([49, 48]);
    clock.ms = 90_000;
    expect([remaining(limit, 'a'), remaining(limit, 'a')]).to.deep.equal([72, 71]);
    clock.ms = 180_000;
    expect(remaining(limit, 'a')).to.equal(99);
  });

  it('are forgotten when the store is closed', () => {
    const { store, remaining, hotKeys } = ruled();
    remaining(limitOf(9), 'a');
    remaining(limitOf(9), 'a');
    store.close();
    expect(remaining(limitOf(9), 'a')).to.equal(8);
    expect(hotKeys()).to.deep.equal([]);
  });

  it('of two stores with the same rule are separate', () => {
    const group = { id: 'g' };
    const stores = [createMemoryStore(), createMemoryStore()];
    const limit = limitOf(9, 'YEAR');
    for (let i = 1; i < 5; i++) {
      for (const store of stores) {
        const [count] = store.count([{ key: 'g|a', group, values: 'a', limit, cost: 1 }]);
        expect(count!.remaining).to.equal(9 - i);
      }
    }
  });
});
