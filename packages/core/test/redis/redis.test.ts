import { expect } from 'chai';
import { silentLoggers } from '../../src/observe/logger.ts';
import { createRedis, type Redis, type RedisClientLike } from '../../src/redis/redis.ts';

/** Commands without a response after which a connection is replaced. */
const MAX_MISSED = 5;

/** A connected client that records whether it was destroyed. */
class FakeClient implements RedisClientLike {
  isOpen = true;
  isReady = true;
  on(): void {}
  async connect(): Promise<void> {}
  destroy(): void {
    this.isOpen = this.isReady = false;
  }
}

const silent = (): Promise<never> => new Promise(() => {});
const ok = async (): Promise<string> => 'OK';

describe('commands without a response from Redis', () => {
  let clients: FakeClient[];
  let redis: Redis<FakeClient>;
  beforeEach(() => {
    clients = [];
    redis = createRedis(
      { host: 'redis:6379' },
      {
        createClient() {
          const client = new FakeClient();
          clients.push(client);
          return client;
        },
        log: silentLoggers.get('redis'),
        unavailable: (detail) => new Error(detail),
        deadlineMs: 1,
        probeEveryMs: 0,
      },
    );
  });
  afterEach(() => redis.disconnect());

  async function miss(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const error = await redis.run(silent).catch((reason: Error) => reason);
      expect(error).to.have.property('message', 'no response in time');
    }
  }

  it('replace the connection if there are five in a row', async () => {
    await miss(MAX_MISSED - 1);
    expect(clients.map(({ isOpen }) => isOpen)).to.deep.equal([true]);
    await miss(1);
    expect(clients.map(({ isOpen }) => isOpen)).to.deep.equal([false]);
    expect(await redis.run(ok)).to.equal('OK');
    expect(clients.map(({ isOpen }) => isOpen)).to.deep.equal([false, true]);
  });

  it('keep the connection if responses come in between', async () => {
    for (let i = 0; i < 3; i++) {
      await miss(MAX_MISSED - 1);
      expect(await redis.run(ok)).to.equal('OK');
    }
    expect(clients.map(({ isOpen }) => isOpen)).to.deep.equal([true]);
  });

  it('are counted again from zero for the next connection', async () => {
    await miss(MAX_MISSED);
    await miss(MAX_MISSED - 1);
    expect(clients.map(({ isOpen }) => isOpen)).to.deep.equal([false, true]);
  });
});

describe('a deadline of a Redis command', () => {
  /** Creates a Redis whose commands that fail at once name it in their message. */
  function connected(deadlineMs: number): Redis<FakeClient> {
    return createRedis(
      { host: 'redis:6379' },
      {
        createClient: () => new FakeClient(),
        log: silentLoggers.get('redis'),
        unavailable: (detail) => new Error(detail),
        deadlineMs,
        probeEveryMs: 60_000,
      },
    );
  }
  const messageOf = (redis: Redis<FakeClient>, command: () => Promise<unknown>): Promise<string> =>
    redis.run(command).then(
      () => 'OK',
      ({ message }: Error) => message,
    );

  it('does not count while this process is blocked', async () => {
    const redis = connected(40);
    const { promise, resolve } = Promise.withResolvers<string>();
    const reply = redis.run(() => promise);
    setTimeout(() => {
      const until = performance.now() + 100;
      while (performance.now() < until);
      // The response needs further turns of the event loop, e.g. to be sent for.
      setImmediate(() => setTimeout(resolve, 1, 'OK'));
    }, 1);
    expect(await reply).to.equal('OK');
    redis.disconnect();
  });

  it('makes the following commands fail at once only if three in a row missed it', async () => {
    const redis = connected(1);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 2; i++) expect(await messageOf(redis, silent)).to.equal('no response in time');
      expect(await messageOf(redis, ok)).to.equal('OK');
    }
    for (let i = 0; i < 3; i++) expect(await messageOf(redis, silent)).to.equal('no response in time');
    expect(await messageOf(redis, ok)).to.equal('no response to recent commands');
    redis.disconnect();
  });

  it('makes the following commands fail for a time that does not depend on the clock', async () => {
    const redis = connected(1);
    const clock = Date.now;
    try {
      for (let i = 0; i < 3; i++) expect(await messageOf(redis, silent)).to.equal('no response in time');
      Date.now = () => clock() + 3_600_000;
      expect(await messageOf(redis, ok)).to.equal('no response to recent commands');
    } finally {
      Date.now = clock;
      redis.disconnect();
    }
  });

  it('makes the following commands succeed again when a late response arrives', async () => {
    const redis = connected(1);
    const { promise, resolve } = Promise.withResolvers<string>();
    for (let i = 0; i < 3; i++) expect(await messageOf(redis, () => promise)).to.equal('no response in time');
    expect(await messageOf(redis, ok)).to.equal('no response to recent commands');
    resolve('late');
    await promise;
    await Promise.resolve();
    expect(await messageOf(redis, ok)).to.equal('OK');
    redis.disconnect();
  });

  it('makes the following commands fail at once if a long one missed it', async () => {
    const redis = connected(500);
    expect(await messageOf(redis, silent)).to.equal('no response in time');
    expect(await messageOf(redis, ok)).to.equal('no response to recent commands');
    redis.disconnect();
  });
});

describe('a connection to Redis', () => {
  it('is awaited longer by a process that is blocked while it connects', async () => {
    class Connecting extends FakeClient {
      override isReady = false;
      override async connect(): Promise<void> {
        setImmediate(() => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
          setImmediate(() => setImmediate(() => (this.isReady = true)));
        });
      }
    }
    const redis = createRedis(
      { host: 'redis:6379' },
      {
        createClient: () => new Connecting(),
        log: silentLoggers.get('redis'),
        unavailable: (detail) => new Error(detail),
        connectWaitMs: 50,
        deadlineMs: 10_000,
      },
    );
    expect(await redis.run(ok)).to.equal('OK');
    redis.disconnect();
  });
});
