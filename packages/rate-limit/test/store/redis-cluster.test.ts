import { expect } from 'chai';
import type { Store } from '@edge-gateway/rate-limit';
import { startRedisCluster, type RedisCluster } from '../../../../test/parts/redis-cluster.ts';
import { HASH_TAGS, hashTagOf } from '../../src/store/redis-shards.ts';
import { connectedStore, DEADLINE_MS, limitOf } from './redis-parts.ts';

const KEYS = Array.from({ length: 200 }, (_, i) => `key${i}`);

describe('createRedisStore on a cluster', function () {
  this.timeout(120_000);
  let cluster: RedisCluster;
  const stores: Store[] = [];
  before(async () => {
    cluster = await startRedisCluster();
    for (let i = 0; i < 3; i++) stores.push(await connectedStore({ url: `redis+cluster://${cluster.hosts}` }));
    for (const primary of cluster.primaries) await primary.command(['flushall']);
  });
  after(async () => {
    for (const store of stores) store.close();
    await cluster?.close();
  });

  it('counts exactly across 3 stores, with counters under all hash tags and on all nodes', async () => {
    expect(new Set(KEYS.map(hashTagOf)).size).to.equal(HASH_TAGS.length);
    const limit = limitOf({ requests: 5, unit: 'YEAR' });
    const checks = Array.from({ length: 3 }, () =>
      stores.flatMap((store) =>
        KEYS.map(async (key) => ({ key, counts: await store.count([{ key, limit, cost: 1 }], DEADLINE_MS) })),
      ),
    );
    const passed = new Map<string, number>();
    for (const { key, counts } of await Promise.all(checks.flat()))
      if (!counts[0]!.isOver) passed.set(key, (passed.get(key) ?? 0) + 1);
    expect([...new Set(passed.values())]).to.deep.equal([5]);
    expect(passed.size).to.equal(KEYS.length);
    let kept = 0;
    for (const primary of cluster.primaries) {
      const size = Number((await primary.command(['dbsize'])).slice(1));
      expect(size).to.be.greaterThan(10);
      kept += size;
    }
    expect(kept).to.equal(KEYS.length);
  });

  it('returns the counts of one check in order although they are on several nodes', async () => {
    const charges = KEYS.slice(0, 50).map((key, i) => ({
      key: `order.${key}`,
      limit: limitOf({ requests: i + 1, unit: 'YEAR' }),
      cost: 1,
    }));
    const counts = await stores[0]!.count(charges, DEADLINE_MS);
    expect(counts.map(({ remaining }) => remaining)).to.deep.equal(charges.map((_, i) => i));
  });
});
