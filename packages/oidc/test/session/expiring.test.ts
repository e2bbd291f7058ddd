import { expect } from 'chai';
import { silentLoggers } from '@edge-gateway/core';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { startRedis } from '../../../../test/parts/redis.ts';
import { createSessionRedis } from '../../src/session/redis.ts';
import { USED_MS } from '../../src/session/create-storage.ts';
import { createLocalIds, createRedisIds } from '../../src/session/expiring.ts';

/** A logout token is accepted up to ten minutes after it was issued, which may be 60 s ahead of this clock or behind it. */
const LONGEST_VALID_MS = 720_000;

describe('used logout tokens', () => {
  it('in memory are remembered while they are valid, and then forgotten', async () => {
    let shift = 0;
    const used = createLocalIds(USED_MS, () => Date.now() + shift);
    await used.add('a');
    shift = LONGEST_VALID_MS;
    expect([await used.has('a'), await used.has('b')]).to.deep.equal([true, false]);
    shift = 3_600_000;
    expect(await used.has('a')).to.equal(false);
  });

  it('in memory are remembered for a fraction of a millisecond too', async () => {
    let now = 1;
    const ids = createLocalIds(0.5, () => now);
    await ids.add('a');
    expect(await ids.has('a')).to.equal(true);
    now = 3;
    expect(await ids.has('a')).to.equal(false);
  });

  it('in Redis are remembered while they are valid, and then forgotten', async function () {
    await skipWithout(this, 'redis-server');
    const server = await startRedis();
    const redis = createSessionRedis({ host: server.host }, silentLoggers.get('redis'));
    try {
      const used = createRedisIds(redis, { prefix: 'p:', ttlMs: USED_MS });
      await used.add('a');
      expect([await used.has('a'), await used.has('b')]).to.deep.equal([true, false]);
      const [key = ''] = await redis.run((each) => each.keys('*'));
      expect(key).to.match(/^p:/);
      expect(await redis.run((each) => each.pTTL(key))).to.be.within(LONGEST_VALID_MS, 3_600_000);
    } finally {
      redis.disconnect();
      await server.close();
    }
  });
});
