import { expect } from 'chai';
import { silentLoggers } from '@edge-gateway/core';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { createSessionRedis } from '../../src/session/redis.ts';
import { createRedisIndex } from '../../src/session/redis-session.ts';
import { createLocalIndex, type SessionIndex } from '../../src/session/session-index.ts';

/** The contract suite of indexes; `maxIds` of each index is 3. */
function sessionIndexContract(name: string, create: (now: () => number) => Promise<SessionIndex>): void {
  describe(`an index of sessions in ${name}`, () => {
    let shift = 0;
    let index: SessionIndex;
    const now = (): number => Date.now() + shift;
    const in1s = (): number => now() + 1000;
    beforeEach(async () => {
      shift = 0;
      index = await create(now);
    });

    it('finds sessions under each of their keys, repeatedly', async () => {
      await index.add(['subject', 'sid'], { id: 'a', endsAt: in1s() });
      await index.add(['subject'], { id: 'b', endsAt: in1s() });
      for (let i = 0; i < 2; i++) expect([...(await index.find(['subject']))].sort()).to.deep.equal(['a', 'b']);
      expect(await index.find(['sid', 'unknown'])).to.deep.equal(['a']);
    });

    it('forgets the given sessions, and none that were added meanwhile', async () => {
      await index.add(['subject'], { id: 'a', endsAt: in1s() });
      const found = await index.find(['subject']);
      await index.add(['subject'], { id: 'b', endsAt: in1s() });
      await index.forget(['subject'], found);
      expect(await index.find(['subject'])).to.deep.equal(['b']);
    });

    it('forgets expired sessions when their user logs in again', async () => {
      await index.add(['subject'], { id: 'a', endsAt: in1s() });
      shift = 2000;
      await index.add(['subject'], { id: 'b', endsAt: in1s() });
      expect(await index.find(['subject'])).to.deep.equal(['b']);
    });

    it('keeps sessions until they end', async () => {
      await index.add(['subject'], { id: 'a', endsAt: in1s() });
      shift = 500;
      await index.add(['subject'], { id: 'b', endsAt: in1s() });
      expect([...(await index.find(['subject']))].sort()).to.deep.equal(['a', 'b']);
    });

    it('keeps a session whose end was extended', async () => {
      await index.add(['subject'], { id: 'a', endsAt: in1s() });
      await index.add(['subject'], { id: 'a', endsAt: now() + 10_000 });
      shift = 2000;
      await index.add(['subject'], { id: 'b', endsAt: in1s() });
      expect([...(await index.find(['subject']))].sort()).to.deep.equal(['a', 'b']);
    });

    it('evicts the session that expires first, whenever it was added', async () => {
      for (const [id, ms] of Object.entries({ a: 4000, b: 3000, c: 1000 }))
        await index.add(['subject'], { id, endsAt: now() + ms });
      await index.add(['subject'], { id: 'c', endsAt: now() + 9000 });
      expect(await index.add(['subject'], { id: 'd', endsAt: now() + 2000 })).to.deep.equal(['d']);
      expect(await index.add(['subject'], { id: 'e', endsAt: now() + 5000 })).to.deep.equal(['b']);
      expect([...(await index.find(['subject']))].sort()).to.deep.equal(['a', 'c', 'e']);
    });

    it('returns the evicted sessions, so that they can be ended', async () => {
      const gone: string[] = [];
      for (const id of ['a', 'b', 'c', 'd'])
        gone.push(...(await index.add(['subject'], { id, endsAt: in1s() + gone.length + id.charCodeAt(0) })));
      expect(gone).to.deep.equal(['a']);
      expect([...(await index.find(['subject']))].sort()).to.deep.equal(['b', 'c', 'd']);
    });
  });
}

sessionIndexContract('memory', async (now) => createLocalIndex(now, 3));

describe('memory as an index', () => {
  it('drops the expired sessions of others with later additions', async () => {
    let time = 0;
    const index = createLocalIndex(() => time);
    const gone = Array.from({ length: 8 }, (_, i) => `gone-${i}`);
    for (const key of gone) await index.add([key], { id: key, endsAt: 1000 });
    time = 2000;
    for (let i = 0; i < 8; i++) await index.add(['other'], { id: 'b', endsAt: 9000 });
    expect(await index.find([...gone, 'other'])).to.deep.equal(['b']);
  });

  it('holds at most 200 000 keys, not counting those without sessions', async () => {
    const index = createLocalIndex(() => 0);
    await index.add(['empty'], { id: 'e', endsAt: 1000 });
    await index.forget(['empty'], ['e']);
    const keys = Array.from({ length: 200_000 }, (_, i) => `key-${i}`);
    for (const key of keys) expect(await index.add([key], { id: key, endsAt: 1000 })).to.deep.equal([]);
    await index.forget(['key-7'], ['key-7']);
    expect(await index.add(['more'], { id: 'm', endsAt: 1000 })).to.deep.equal([]);
    expect(await index.add(['most'], { id: 'n', endsAt: 1000 })).to.deep.equal(['key-0']);
    expect(await index.find(['key-0', 'key-1', 'most'])).to.deep.equal(['key-1', 'n']);
  });
});

describe('Redis as an index', () => {
  let server: RedisServer;
  const redisOf = () => createSessionRedis({ host: server.host }, silentLoggers.get('redis'));
  let redis: ReturnType<typeof redisOf>;
  before(async function () {
    await skipWithout(this, 'redis-server');
    server = await startRedis();
    redis = redisOf();
  });
  after(async () => {
    redis?.disconnect();
    await server?.close();
  });

  sessionIndexContract('Redis', async (now) => {
    await server.command(['flushall']);
    return createRedisIndex(redis, { prefix: 'i:', now, maxIds: 3 });
  });

  it('expires each key with its last session', async () => {
    await server.command(['flushall']);
    const index = createRedisIndex(redis, { prefix: 'i:', now: Date.now });
    await index.add(['subject'], { id: 'a', endsAt: Date.now() + 90_000 });
    await index.add(['subject'], { id: 'b', endsAt: Date.now() + 30_000 });
    const [key = ''] = await redis.run((each) => each.keys('i:*'));
    expect(await redis.run((each) => each.pTTL(key))).to.be.within(85_000, 90_000);
  });
});
