import { expect } from 'chai';
import { createMemoryStore, windowAt, type Algorithm, type Limit, type Unit } from '@edge-gateway/rate-limit';
import { UNIT_MS } from '../../src/rules/limit.ts';
import { seeded, type Random } from '../random.ts';
import { createNaiveStore } from './naive-store.ts';

const UNITS = Object.keys(UNIT_MS) as Unit[];
const ALGORITHMS: readonly Algorithm[] = ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'];
const START = Date.UTC(2026, 10, 20);

function randomLimit(random: Random, algorithm: Algorithm): Limit {
  const unit = random.pick(UNITS);
  const requests = random.pick([0, 1, 3, 10, 1000]);
  return { requests, unit, unitMs: UNIT_MS[unit], algorithm, burst: random.pick([requests, 1, 25]) };
}

/** A step in time: often none, sometimes a part of the unit, seldom many units. */
function randomStep(random: Random, unitMs: number): number {
  const kind = random.integer(10);
  if (kind < 5) return 0;
  if (kind < 7) return random.integer(10);
  if (kind < 9) return random.integer(Math.ceil(unitMs / 3));
  return random.integer(4) * unitMs + random.integer(3);
}

for (const algorithm of ALGORITHMS) {
  describe(`${algorithm} at random times`, () => {
    it('equals a naive implementation', () => {
      const random = seeded(algorithm.length);
      let over = 0;
      let allowed = 0;
      for (let round = 0; round < 150; round++) {
        const limit = randomLimit(random, algorithm);
        let nowMs = START + random.integer(UNIT_MS.YEAR / 1000) * 1000;
        const store = createMemoryStore({ now: () => nowMs });
        const naive = createNaiveStore();
        const group = random.pick([undefined, { id: 'g' }]);
        for (let i = 0; i < 150; i++) {
          nowMs += randomStep(random, limit.unitMs);
          const charges = random.list(3, () => {
            const key = random.pick(['a', 'b', 'c']);
            return { key, group, values: group && key, limit, cost: random.pick([1, 1, 1, 0, 2, 7]) };
          });
          const expected = charges.map((charge) => naive(charge, nowMs));
          const actual = store.count(charges);
          expect(actual.map(({ isOver, remaining }) => ({ isOver, remaining }))).to.deep.equal(expected);
          for (const { isOver, resetMs } of actual) {
            expect(resetMs).to.be.within(0, windowLength(limit, nowMs));
            if (isOver) over++;
            else allowed++;
          }
        }
      }
      expect(Math.min(over, allowed)).to.be.greaterThan(3000);
    });

    it('stays within bounds when the clock jumps', () => {
      const random = seeded(algorithm.length + 1);
      for (let round = 0; round < 100; round++) {
        const limit = randomLimit(random, algorithm);
        let nowMs = START;
        let jumps = 1;
        let passed = 0;
        const store = createMemoryStore({ now: () => nowMs });
        for (let i = 0; i < 200; i++) {
          if (random.chance(0.1)) {
            nowMs += (random.integer(2001) - 1000) * limit.unitMs;
            jumps++;
          }
          const { isOver, remaining, resetMs } = store.count([{ key: 'a', limit, cost: 1 }])[0]!;
          if (!isOver) passed++;
          expect(remaining).to.be.within(0, Math.max(limit.requests, limit.burst));
          expect(resetMs)
            .to.be.within(0, Math.max(2, limit.burst) * 366 * UNIT_MS.DAY)
            .and.satisfy(Number.isInteger);
        }
        expect(passed).to.be.at.most(
          jumps * Math.max(limit.requests, limit.algorithm === 'TOKEN_BUCKET' ? limit.burst : 0),
        );
      }
    });
  });
}

function windowLength({ algorithm, unit, requests, burst, unitMs }: Limit, nowMs: number): number {
  if (algorithm === 'TOKEN_BUCKET') return requests === 0 ? unitMs : Math.ceil((burst * unitMs) / requests);
  const { startMs, endMs } = windowAt(unit, nowMs);
  return endMs - startMs;
}

describe('SLIDING_WINDOW', () => {
  it('allows less than twice the limit within any unit, and the limit on average', () => {
    const random = seeded(5);
    const limit: Limit = { requests: 50, unit: 'MINUTE', unitMs: 60_000, algorithm: 'SLIDING_WINDOW', burst: 50 };
    let nowMs = START;
    const store = createMemoryStore({ now: () => nowMs });
    const passed: number[] = [];
    for (let i = 0; i < 50_000; i++) {
      // Bursts and pauses, which are the worst case.
      nowMs += random.chance(0.01) ? random.integer(60_000) : random.integer(3);
      if (!store.count([{ key: 'a', limit, cost: 1 }])[0]!.isOver) passed.push(nowMs);
    }
    for (let from = 0, to = 0; to < passed.length; to++) {
      while (passed[to]! - passed[from]! >= 60_000) from++;
      expect(to - from + 1).to.be.below(100);
    }
    expect(passed.length / ((nowMs - START) / 60_000)).to.be.within(25, 51);
  });
});
