import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import type { Store } from '@edge-gateway/rate-limit';
import { startRedisCluster } from '../../../../test/parts/redis-cluster.ts';
import { startRedisSentinels } from '../../../../test/parts/redis-sentinels.ts';
import { connectedStore, DEADLINE_MS, limitOf, recordingLog } from './redis-parts.ts';

const KEYS = Array.from({ length: 60 }, (_, i) => `key${i}`);
const REQUESTS = 20;
/** With the time until the others agree that the primary is lost, on a busy machine. */
const RECOVERY_MS = 30_000;

/** Checks every key once. Returns those that failed. */
async function checkAll(store: Store, name: string, deadlineMs: number): Promise<string[]> {
  const limit = limitOf({ requests: REQUESTS, unit: 'YEAR' });
  const checks = KEYS.map((key) => store.count([{ key: `${name}.${key}`, limit, cost: 1 }], deadlineMs));
  const outcomes = await Promise.allSettled(checks);
  return KEYS.filter((_, i) => outcomes[i]!.status === 'rejected');
}

/** Counts before, during and after the primary of some keys is lost. */
async function expectFailOver(url: string, fail: () => Promise<void>): Promise<void> {
  const { log, lines } = recordingLog();
  const store = await connectedStore({ url, log });
  const other = await connectedStore({ url });
  expect(await checkAll(store, 'before', DEADLINE_MS)).to.deep.equal([]);
  await fail();
  const startedAt = performance.now();
  let failed = 0;
  // Success thrice in a row is a primary that stays.
  for (let whole = 0; whole < 3;) {
    const checkedAt = performance.now();
    const missing = (await checkAll(store, 'during', 200)).length + (await checkAll(other, 'during', 200)).length;
    expect(performance.now() - checkedAt).to.be.below(2000);
    expect(performance.now() - startedAt).to.be.below(RECOVERY_MS);
    failed += missing;
    whole = missing === 0 ? whole + 1 : 0;
    await wait(20);
  }
  console.log(`        errors for ${Math.round(performance.now() - startedAt)} ms`);
  expect(failed).to.be.greaterThan(0);
  // The new primary counts exactly, across stores.
  const limit = limitOf({ requests: REQUESTS, unit: 'YEAR' });
  for (const key of KEYS) {
    const charge = { key: `after.${key}`, limit, cost: 1 };
    const checks = Array.from({ length: 50 }, (_, i) => (i % 2 ? store : other).count([charge], DEADLINE_MS));
    const passed = (await Promise.all(checks)).filter(([count]) => !count!.isOver);
    expect(passed).to.have.length(REQUESTS);
  }
  expect(lines.at(-1)).to.equal('Redis is available again');
  store.close();
  other.close();
}

describe('counters on a Redis that fails over', function () {
  this.timeout(180_000);

  it('are exact again at the new primary that the sentinels name', async () => {
    const group = await startRedisSentinels();
    await expectFailOver(`redis+sentinel://${group.hosts}/${group.name}`, () => group.primary.stop());
    await group.close();
  });

  it('are exact again at the new primary that the sentinels name if the old one is frozen', async () => {
    const group = await startRedisSentinels();
    await expectFailOver(`redis+sentinel://${group.hosts}/${group.name}`, async () => group.primary.freeze());
    await group.close();
  });

  it('are exact again at the replica of a cluster', async () => {
    const cluster = await startRedisCluster({ replicas: true });
    await expectFailOver(`redis+cluster://${cluster.hosts}`, () => cluster.primaries[0]!.stop());
    await cluster.close();
  });
});
