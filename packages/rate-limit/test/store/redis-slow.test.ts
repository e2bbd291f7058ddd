import { expect } from 'chai';
import type { Count, Store } from '@edge-gateway/rate-limit';
import { startRedisFront, type RedisFront } from '../../../../test/faults/redis-front.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { connectedStore, DEADLINE_MS, limitOf, untilAvailable } from './redis-parts.ts';

describe('createRedisStore with a slow Redis', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  let front: RedisFront;
  let store: Store;
  beforeEach(async () => {
    redis = await startRedis();
    front = await startRedisFront(redis.port);
    store = await connectedStore({ url: `redis://${front.host}` });
  });
  afterEach(async () => {
    store.close();
    await front.close();
    await redis.close();
  });

  async function check(deadlineMs: number): Promise<Count | string> {
    const charges = [{ key: 'slow', limit: limitOf({ requests: 1000, unit: 'YEAR' }), cost: 1 }];
    try {
      return (await store.count(charges, deadlineMs))[0]!;
    } catch (error) {
      return (error as Error & { code: string }).code;
    }
  }

  it('waits for responses up to the deadline', async () => {
    front.delayMs = 100;
    for (let i = 0; i < 3; i++) expect(await check(DEADLINE_MS)).to.include({ remaining: 999 - i });
  });

  it('rejects checks within their deadline, then recovers', async () => {
    front.delayMs = 5000;
    const startedAt = performance.now();
    for (let i = 0; i < 10; i++) expect(await check(50)).to.equal('ERR_RATE_LIMIT_STORE');
    expect(performance.now() - startedAt, 'before the first response').to.be.below(5000);
    front.delayMs = 0;
    await untilAvailable(store);
    expect(await check(DEADLINE_MS)).to.have.property('isOver', false);
  });

  it('does not reject the checks after one whose response is late', async () => {
    front.delayMs = 200;
    const late = check(50);
    expect(await late).to.equal('ERR_RATE_LIMIT_STORE');
    front.delayMs = 0;
    expect(await check(DEADLINE_MS)).to.have.property('isOver', false);
  });
});
