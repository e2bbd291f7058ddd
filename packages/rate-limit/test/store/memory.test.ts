import { expect } from 'chai';
import { createMemoryStore, type Count, type Limit, type MemoryStore, type Unit } from '@edge-gateway/rate-limit';
import { UNIT_MS } from '../../src/rules/limit.ts';
import { seeded } from '../random.ts';
import { limitOf } from './limits.ts';

const START = Date.UTC(2027, 0, 1, 12);

/** A store whose time the test sets, in milliseconds since the start of a minute, an hour and the 12th hour of a year's first day. */
function timed(options: { maxKeys?: number; onEvict?: (keys: number) => void } = {}) {
  const clock = { ms: 0 };
  const store = createMemoryStore({ ...options, now: () => START + clock.ms });
  const charge = (limit: Limit, cost = 1, key = 'k'): Count => store.count([{ key, limit, cost }])[0]!;
  /** `true` for each allowed one of several charges. */
  const allowed = (limit: Limit, amount: number): number =>
    Array.from({ length: amount }, () => charge(limit)).filter((count) => !count.isOver).length;
  return { clock, store, charge, allowed };
}

describe('fixed windows in memory', () => {
  it('allow the limit in each window', () => {
    const { clock, charge } = timed();
    const limit = limitOf(2);
    clock.ms = 59_000;
    expect(charge(limit)).to.deep.equal({ isOver: false, remaining: 1, resetMs: 1000 });
    expect(charge(limit)).to.deep.equal({ isOver: false, remaining: 0, resetMs: 1000 });
    expect(charge(limit)).to.deep.equal({ isOver: true, remaining: 0, resetMs: 1000 });
    clock.ms = 60_000;
    expect(charge(limit)).to.deep.equal({ isOver: false, remaining: 1, resetMs: 60_000 });
  });

  it('count charges that are over', () => {
    const { charge } = timed();
    expect(charge(limitOf(10), 8).isOver).to.equal(false);
    expect(charge(limitOf(10), 5).isOver).to.equal(true);
    expect(charge(limitOf(10), 1).isOver).to.equal(true);
  });

  it('read with a cost of 0', () => {
    const { charge } = timed();
    expect(charge(limitOf(2), 0)).to.include({ isOver: false, remaining: 2 });
    charge(limitOf(2), 2);
    expect(charge(limitOf(2), 0)).to.include({ isOver: false, remaining: 0 });
    charge(limitOf(2), 1);
    expect(charge(limitOf(2), 0)).to.include({ isOver: true, remaining: 0 });
  });

  it('keep counting at the largest limits and costs', () => {
    const { charge } = timed();
    const limit = limitOf(4_294_967_295);
    expect(charge(limit, 4_294_967_294)).to.include({ isOver: false, remaining: 1 });
    expect(charge(limit)).to.include({ isOver: false, remaining: 0 });
    expect(charge(limit, Number.MAX_SAFE_INTEGER)).to.include({ isOver: true, remaining: 0 });
    expect(charge(limit, Number.MAX_SAFE_INTEGER)).to.include({ isOver: true, remaining: 0 });
    expect(charge(limit, 0)).to.include({ isOver: true, remaining: 0 });
  });

  it('keep the window if the clock goes back by less than a window', () => {
    const { clock, allowed } = timed();
    expect(allowed(limitOf(2), 3)).to.equal(2);
    clock.ms = -1;
    expect(allowed(limitOf(2), 1)).to.equal(0);
    clock.ms = -60_000;
    expect(allowed(limitOf(2), 1)).to.equal(0);
    clock.ms = 1000;
    expect(allowed(limitOf(2), 1)).to.equal(0);
  });

  it('start anew once if the clock goes back further, or far ahead', () => {
    const { clock, allowed } = timed();
    expect(allowed(limitOf(2), 3)).to.equal(2);
    clock.ms = 100 * UNIT_MS.YEAR;
    expect(allowed(limitOf(2), 3)).to.equal(2);
    clock.ms = 0;
    expect(allowed(limitOf(2), 3)).to.equal(2);
    clock.ms = 1;
    expect(allowed(limitOf(2), 3)).to.equal(0);
  });

  it('count units, algorithms and keys separately', () => {
    const { charge } = timed();
    for (const unit of Object.keys(UNIT_MS) as Unit[]) {
      for (const algorithm of ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const) {
        expect(charge(limitOf(1, unit, algorithm)).isOver, `${unit} ${algorithm}`).to.equal(false);
        expect(charge(limitOf(1, unit, algorithm)).isOver, `${unit} ${algorithm}`).to.equal(true);
        expect(charge(limitOf(1, unit, algorithm), 1, 'other').isOver).to.equal(false);
      }
    }
  });
});

describe('sliding windows in memory', () => {
  const sliding = (requests: number): Limit => limitOf(requests, 'MINUTE', 'SLIDING_WINDOW');

  it('count the share of the previous window', () => {
    const { clock, allowed, charge } = timed();
    expect(allowed(sliding(100), 200)).to.equal(100);
    clock.ms = 60_000;
    expect(allowed(sliding(100), 1)).to.equal(0);
    clock.ms = 75_000;
    expect(allowed(sliding(100), 200)).to.equal(25);
    expect(charge(sliding(100))).to.deep.equal({ isOver: true, remaining: 0, resetMs: 45_000 });
    clock.ms = 90_000;
    expect(charge(sliding(100))).to.deep.equal({ isOver: false, remaining: 24, resetMs: 30_000 });
    clock.ms = 240_000;
    expect(allowed(sliding(100), 200)).to.equal(100);
  });

  it('do not count what they reject', () => {
    const { charge } = timed();
    expect(charge(sliding(10), 8)).to.include({ isOver: false, remaining: 2 });
    expect(charge(sliding(10), 5)).to.include({ isOver: true, remaining: 2 });
    expect(charge(sliding(10), 2)).to.include({ isOver: false, remaining: 0 });
    expect(charge(sliding(10), 11)).to.include({ isOver: true });
  });

  it('keep the window if the clock goes back by less than a window, and start anew otherwise', () => {
    const { clock, allowed } = timed();
    expect(allowed(sliding(2), 3)).to.equal(2);
    clock.ms = -30_000;
    expect(allowed(sliding(2), 3)).to.equal(0);
    clock.ms = -61_000;
    expect(allowed(sliding(2), 3)).to.equal(2);
    clock.ms = UNIT_MS.YEAR;
    expect(allowed(sliding(2), 3)).to.equal(2);
  });
});

describe('token buckets in memory', () => {
  const bucket = (requests: number, burst = requests): Limit => limitOf(requests, 'MINUTE', 'TOKEN_BUCKET', burst);

  it('start full and refill evenly', () => {
    const { clock, allowed, charge } = timed();
    expect(allowed(bucket(60, 10), 20)).to.equal(10);
    expect(charge(bucket(60, 10))).to.deep.equal({ isOver: true, remaining: 0, resetMs: 1000 });
    clock.ms = 999;
    expect(charge(bucket(60, 10))).to.deep.equal({ isOver: true, remaining: 0, resetMs: 1 });
    clock.ms = 1000;
    expect(charge(bucket(60, 10))).to.deep.equal({ isOver: false, remaining: 0, resetMs: 1000 });
    clock.ms = 600_000;
    expect(allowed(bucket(60, 10), 20)).to.equal(10);
  });

  it('refill exactly, however often they are read', () => {
    const { clock, allowed } = timed();
    const limit = bucket(7);
    expect(allowed(limit, 7)).to.equal(7);
    let passed = 0;
    for (clock.ms = 1; clock.ms <= 600_000; clock.ms += 13) passed += allowed(limit, 1);
    expect(passed).to.equal(69);
    clock.ms = 600_000;
    expect(allowed(limit, 2)).to.equal(1);
  });

  it('return the time when a rejected charge fits', () => {
    const { clock, charge } = timed();
    charge(bucket(60), 60);
    expect(charge(bucket(60), 30)).to.deep.equal({ isOver: true, remaining: 0, resetMs: 30_000 });
    clock.ms = 30_000;
    expect(charge(bucket(60), 30)).to.include({ isOver: false });
    expect(charge(bucket(60), 61)).to.deep.equal({ isOver: true, remaining: 0, resetMs: 60_000 });
  });

  it('reject every request with a limit of 0, even with a burst', () => {
    const { charge } = timed();
    expect(charge(bucket(0, 5))).to.deep.equal({ isOver: true, remaining: 0, resetMs: 60_000 });
    expect(charge(bucket(5, 0))).to.include({ isOver: true, remaining: 0 });
  });

  it('refill from then on after the clock went back, and once after it went ahead', () => {
    const { clock, allowed } = timed();
    clock.ms = UNIT_MS.YEAR;
    expect(allowed(bucket(60), 100)).to.equal(60);
    clock.ms = 0;
    expect(allowed(bucket(60), 100)).to.equal(0);
    clock.ms = 1000;
    expect(allowed(bucket(60), 100)).to.equal(1);
    clock.ms = 100 * UNIT_MS.YEAR;
    expect(allowed(bucket(60), 100)).to.equal(60);
  });

  it('hold the largest numbers', () => {
    const { clock, charge } = timed();
    const limit = limitOf(4_294_967_295, 'YEAR', 'TOKEN_BUCKET');
    expect(charge(limit, 4_294_967_295)).to.include({ isOver: false, remaining: 0 });
    expect(charge(limit, 1)).to.include({ isOver: true, resetMs: 8 });
    clock.ms = 8;
    expect(charge(limit, 1)).to.include({ isOver: false });
    expect(charge(limit, Number.MAX_SAFE_INTEGER)).to.include({ isOver: true });
  });
});

describe('the bounds of the store', () => {
  const flood = (store: MemoryStore, limit: Limit, amount: number, prefix = 'f'): void => {
    for (let i = 0; i < amount; i++) store.count([{ key: `${prefix}${i}`, limit, cost: 1 }]);
  };

  for (const algorithm of ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const) {
    it(`count exactly or start again while keys in use move and others are evicted: ${algorithm}`, () => {
      for (const maxKeys of [1, 2, 3, 4, 7, 30, 100]) {
        const random = seeded(maxKeys);
        const { store, charge } = timed({ maxKeys });
        const limit = limitOf(1e6, 'YEAR', algorithm);
        const counts = new Map<string, number>();
        for (let i = 0; i < 1500; i++) {
          const key = `k${random.integer(random.chance(0.5) ? 3 : 2 * maxKeys + 1)}`;
          const before = counts.get(key) ?? 0;
          const count = 1e6 - charge(limit, 1, key).remaining;
          expect(count).to.be.oneOf([before + 1, 1]);
          counts.set(key, count);
        }
        expect(store.size).to.be.at.most(Math.max(1, maxKeys));
        expect(Math.max(...counts.values())).to.be.above(1);
      }
    });

    it(`evict the oldest keys, and keep those in use: ${algorithm}`, () => {
      const evicted: number[] = [];
      const { store, charge } = timed({ maxKeys: 1000, onEvict: (keys) => void evicted.push(keys) });
      const limit = limitOf(100, 'HOUR', algorithm);
      charge(limit, 100, 'old');
      for (let i = 0; i < 50; i++) {
        charge(limit, 2, 'used');
        flood(store, limit, 100, `${i}-`);
        expect(store.size).to.be.at.most(1000);
      }
      expect(charge(limit, 1, 'used').isOver).to.equal(true);
      expect(charge(limit, 1, 'old').isOver).to.equal(false);
      expect(evicted.reduce((sum, keys) => sum + keys, 0)).to.be.within(4000, 5001);
    });
  }

  it('hold with keys in many tables', () => {
    let evicted = 0;
    const { store } = timed({ maxKeys: 100, onEvict: (keys) => (evicted += keys) });
    for (const unit of Object.keys(UNIT_MS) as Unit[]) {
      for (const algorithm of ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const) {
        flood(store, limitOf(5, unit, algorithm), 20);
        expect(store.size).to.be.at.most(100);
      }
    }
    expect(store.size + evicted).to.equal(420);
  });

  it('hold with a single key', () => {
    const { store, charge } = timed({ maxKeys: 1 });
    flood(store, limitOf(5), 10);
    expect(store.size).to.equal(1);
    expect(charge(limitOf(5), 1, 'f9').remaining).to.equal(3);
  });

  it('hold with a single bucket, which needs more memory than a key', () => {
    const { store, charge } = timed({ maxKeys: 1 });
    const bucket = limitOf(5, 'MINUTE', 'TOKEN_BUCKET');
    for (const [key, remaining] of [
      ['a', 4],
      ['a', 3],
      ['b', 4],
    ] as const) {
      expect(charge(bucket, 1, key).remaining, key).to.equal(remaining);
    }
    expect(store.size).to.equal(1);
  });

  it('forget windows that are over, and buckets that are full', () => {
    const { clock, store, charge } = timed();
    flood(store, limitOf(5, 'MINUTE'), 100);
    flood(store, limitOf(5, 'MINUTE', 'SLIDING_WINDOW'), 100);
    flood(store, limitOf(5, 'MINUTE', 'TOKEN_BUCKET', 15), 100);
    expect(store.size).to.equal(300);
    clock.ms = 60_000;
    charge(limitOf(5, 'YEAR'));
    expect(store.size).to.equal(201);
    clock.ms = 120_000;
    charge(limitOf(5, 'YEAR'));
    expect(store.size).to.equal(101);
    for (let minute = 3; minute <= 10; minute++) {
      clock.ms = minute * 60_000;
      charge(limitOf(5, 'YEAR'));
    }
    expect(store.size).to.equal(1);
  });

  it('keep buckets until they are full', () => {
    const { clock, store, charge } = timed();
    const limit = limitOf(1, 'MINUTE', 'TOKEN_BUCKET', 5);
    charge(limit, 5);
    for (let second = 1; second < 60; second++) {
      clock.ms = second * 1000;
      flood(store, limit, 10, `${second}-`);
    }
    clock.ms = 299_000;
    flood(store, limit, 10, 'x');
    expect(charge(limit, 5).isOver).to.equal(true);
  });

  it('are empty after it is closed', () => {
    const { store, charge } = timed();
    charge(limitOf(1));
    store.close();
    expect(store.size).to.equal(0);
  });
});
