import { expect } from 'chai';
import { createMemoryStore, type Algorithm, type Store, type Unit } from '@edge-gateway/rate-limit';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { UNIT_MS } from '../../src/rules/limit.ts';
import { seeded } from '../random.ts';
import { connectedStore, DEADLINE_MS, limitOf } from './redis-parts.ts';

const UNITS = Object.keys(UNIT_MS) as Unit[];
const ALGORITHMS: readonly Algorithm[] = ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'];
const START = Date.UTC(2027, 10, 20);

describe('counters on Redis', function () {
  this.timeout(120_000);
  let redis: RedisServer;
  let store: Store;
  before(async () => {
    redis = await startRedis({ nowMs: START });
    store = await connectedStore({ url: `redis://${redis.host}` });
  });
  after(async () => {
    store?.close();
    await redis?.close();
  });

  let round = 0;
  // The time never goes back, so that keys of earlier cases expire.
  let nowMs = START;
  for (const algorithm of ALGORITHMS) {
    for (const unit of UNITS) {
      it(`equal those in memory: ${algorithm} per ${unit}`, async () => {
        const random = seeded(++round);
        let over = 0;
        for (const requests of [0, 1, 3, 10, 1000]) {
          const limit = limitOf({ unit, algorithm, requests, burst: random.pick([requests, 1, 25]) });
          const memory = createMemoryStore({ now: () => nowMs });
          const keys = ['a', 'b'].map((key) => `${key}${round}:${requests}`);
          for (let i = 0; i < 40; i++) {
            nowMs += random.pick([0, 0, 0, 1, random.integer(limit.unitMs / 3), random.integer(3) * limit.unitMs]);
            redis.setTime(nowMs);
            const charges = random.list(4, () => ({
              key: random.pick(keys),
              limit,
              cost: random.pick([1, 1, 1, 0, 2, 7, Math.floor(requests / 3)]),
            }));
            const expected = memory.count(charges);
            expect(await store.count(charges, DEADLINE_MS)).to.deep.equal(expected);
            over += expected.filter(({ isOver }) => isOver).length;
          }
        }
        expect(over).to.be.greaterThan(20);
      });
    }
  }

  it('forget the month before the last one, whose key still exists after a short February', async () => {
    const limit = limitOf({ unit: 'MONTH', algorithm: 'SLIDING_WINDOW', requests: 10 });
    const year = new Date(nowMs).getUTCFullYear() + 1;
    const countAt = async (time: number, cost: number) => {
      nowMs = time;
      redis.setTime(nowMs);
      return (await store.count([{ key: `february${year}`, limit, cost }], DEADLINE_MS)).map(
        ({ remaining }) => remaining,
      );
    };
    expect(await countAt(Date.UTC(year, 0, 31), 9)).to.deep.equal([1]);
    expect(await countAt(Date.UTC(year, 2, 1), 1)).to.deep.equal([9]);
  });

  it('equal those in memory at the ends of all months of 400 years', async () => {
    const limit = limitOf({ unit: 'MONTH' });
    const yearly = limitOf({ unit: 'YEAR' });
    const memory = createMemoryStore({ now: () => nowMs });
    for (let month = 0; month < 12 * 400; month += month < 48 ? 1 : 29) {
      for (const offset of [-1, 0]) {
        const next = Date.UTC(2100, month) + offset;
        if (next < nowMs) continue;
        nowMs = next;
        redis.setTime(nowMs);
        const charges = [limit, yearly].map((each) => ({ key: `calendar${month}`, limit: each, cost: 1 }));
        expect(await store.count(charges, DEADLINE_MS)).to.deep.equal(memory.count(charges));
      }
    }
  });
});
