import { expect } from 'chai';
import session, { type Store } from 'express-session';
import { silentLoggers } from '@edge-gateway/core';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { until } from '../../../../test/parts/until.ts';
import { createRedisIndex, createRedisLock, createRedisStore } from '../../src/session/redis-session.ts';
import { createSessionRedis } from '../../src/session/redis.ts';
import { createLocalStore } from '../../src/session/local-store.ts';
import { createLocalIndex } from '../../src/session/session-index.ts';
import { createLocalLock } from '../../src/session/session-lock.ts';
import { createStoreStorage, type StoreStorageOptions } from '../../src/session/store-storage.ts';
import { createLocalIds, createRedisIds } from '../../src/session/expiring.ts';
import { requestWith, sessionOf, sessionStoreContract } from './storage-contract.ts';

const ATTRIBUTES = {
  maxAgeSeconds: 3600,
  secure: true,
  httpOnly: true,
  path: '/',
  sameSite: 'Lax',
  domain: undefined,
} as const;
const rest = { cookieName: '__session', attributes: ATTRIBUTES, client: 'a client', now: Date.now };

function local(store: StoreStorageOptions['store']): StoreStorageOptions {
  return {
    store,
    lock: createLocalLock(),
    index: createLocalIndex(Date.now),
    usedIds: createLocalIds(600_000, Date.now),
    ...rest,
  };
}

sessionStoreContract('the embedded store', async () => {
  const storage = createStoreStorage(local(createLocalStore(Date.now)));
  return { storage, other: storage, close: async () => {} };
});

describe('a session that the provider could not end', () => {
  it('is not left in the store', async () => {
    const store = createLocalStore(Date.now);
    const unavailable = new Error('unavailable');
    const index = { ...createLocalIndex(Date.now), add: () => Promise.reject(unavailable) };
    const created = createStoreStorage({ ...local(store), index }).create(requestWith(), sessionOf('a', '1'));
    expect(await created.catch((error: unknown) => error)).to.equal(unavailable);
    expect(store.size).to.equal(0);
  });
});

describe('Redis', () => {
  let server: RedisServer;
  before(async function () {
    await skipWithout(this, 'redis-server');
    server = await startRedis();
  });
  after(() => server?.close());

  sessionStoreContract('Redis, from two processes', async () => {
    await server.command(['flushall']);
    const connections = [1, 2].map(() => createSessionRedis({ host: server.host }, silentLoggers.get('redis')));
    const [storage, other] = connections.map((redis) =>
      createStoreStorage({
        store: createRedisStore(redis, 'p:'),
        lock: createRedisLock(redis, 'p:'),
        index: createRedisIndex(redis, { prefix: 'p:', now: Date.now }),
        usedIds: createRedisIds(redis, { prefix: 'p:', ttlMs: 600_000 }),
        ...rest,
      }),
    );
    return {
      storage: storage!,
      other: other!,
      async close() {
        for (const redis of connections) redis.disconnect();
      },
    };
  });

  it('holds a lock exactly until the work of its holder ends', async () => {
    const redis = createSessionRedis({ host: server.host }, silentLoggers.get('redis'));
    const [lock, other] = [createRedisLock(redis, 'l:', 900), createRedisLock(redis, 'l:', 900)];
    /** Waits until the lock has been extended twice. */
    const extended = async (): Promise<void> => {
      let left = Infinity;
      let extensions = 0;
      await until(async () => {
        const now = await redis.run((client) => client.pTTL('l:lock:a'));
        if (now > left) extensions++;
        left = now;
        return extensions === 2;
      });
    };
    const release = (await lock.acquire('a', 0))!;
    await extended();
    expect(await other.acquire('a', 0)).to.equal(undefined);
    await release();
    const next = await other.acquire('a', 0);
    expect(next).to.be.a('function');
    await extended();
    await next!();
    expect(await redis.run((client) => client.keys('l:*'))).to.deep.equal([]);
    redis.disconnect();
  });

  it('receives neither handles nor tokens, and an expiry for each key', async () => {
    const redis = createSessionRedis({ host: server.host }, silentLoggers.get('redis'));
    const storage = createStoreStorage({
      store: createRedisStore(redis, 'q:'),
      lock: createRedisLock(redis, 'q:'),
      index: createRedisIndex(redis, { prefix: 'q:', now: Date.now }),
      usedIds: createRedisIds(redis, { prefix: 'q:', ttlMs: 600_000 }),
      ...rest,
    });
    const [cookie = ''] = await storage.create(requestWith(), { accessToken: 'the token', refreshToken: 'more' });
    const [key = ''] = await redis.run((client) => client.keys('q:*'));
    const kept = await redis.run((client) => client.get(key));
    expect(key + kept)
      .to.not.contain(cookie.slice('__session='.length, 20))
      .and.not.contain('the token');
    expect(await redis.run((client) => client.ttl(key))).to.be.greaterThan(0);
    await storage.create(requestWith(), sessionOf('a', '1'));
    const indexed = await redis.run((client) => client.keys('q:sessions-of:*'));
    const times = await Promise.all(indexed.map((each) => redis.run((client) => client.ttl(each))));
    expect(times.length).to.equal(2);
    for (const ttl of times) expect(ttl).to.be.within(3590, 3600);
    redis.disconnect();
  });
});

describe('the embedded store', () => {
  it('ends the session that expires first when its user has too many', async () => {
    const storage = createStoreStorage({
      ...local(createLocalStore(Date.now)),
      index: createLocalIndex(Date.now, 2),
    });
    const requests = [];
    for (const sid of ['1', '2', '3']) {
      const [cookie = ''] = await storage.create(requestWith(), sessionOf('a', sid));
      requests.push(requestWith(cookie.split(';', 1)[0]));
    }
    const stored = await Promise.all(requests.map((request) => storage.load(request)));
    expect(stored.map((each) => each?.session.refreshToken)).to.deep.equal([undefined, 'refresh of 2', 'refresh of 3']);
  });

  it('accepts a logout token once for each client', async () => {
    const options = local(createLocalStore(Date.now));
    const ran: string[] = [];
    for (const client of ['one', 'another', 'one'])
      await createStoreStorage({ ...options, client }).runOnce!('a', async () => void ran.push(client));
    expect(ran).to.deep.equal(['one', 'another']);
  });
});

describe('a store that returns wrong data', () => {
  it('never returns the session of another user', async () => {
    const memory = new session.MemoryStore();
    const storage = createStoreStorage(local(memory));
    const [mine = ''] = await storage.create(requestWith(), { accessToken: 'mine', refreshToken: 'r' });
    await storage.create(requestWith(), { accessToken: 'theirs', refreshToken: 'r' });
    const { sessions } = memory as unknown as { sessions: Record<string, string> };
    const [first = '', second = ''] = Object.keys(sessions);
    [sessions[first], sessions[second]] = [sessions[second]!, sessions[first]!];
    expect(await storage.load(requestWith(mine.split(';', 1)[0]))).to.equal(undefined);
  });

  it('never returns a session of another client', async () => {
    const memory = new session.MemoryStore();
    const [cookie = ''] = await createStoreStorage(local(memory)).create(requestWith(), {
      accessToken: 'a',
      refreshToken: 'r',
    });
    const other = createStoreStorage({ ...local(memory), client: 'another client' });
    expect(await other.load(requestWith(cookie.split(';', 1)[0]))).to.equal(undefined);
  });

  it('is unavailable if it throws or fails', async () => {
    const broken = {
      get: () => {
        throw new Error('broken');
      },
    } as unknown as Store;
    const request = requestWith(`__session=${'A'.repeat(43)}`);
    const error = await createStoreStorage(local(broken))
      .load(request)
      .catch((each: unknown) => each);
    expect(error).to.have.property('code', 'ERR_OIDC_STORE_UNAVAILABLE');
  });
});
