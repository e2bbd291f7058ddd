import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { createMetrics } from '@edge-gateway/core';
import { createRedisStore, type Charge, type Count, type Store } from '@edge-gateway/rate-limit';
import { until } from '../../../../test/parts/until.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { connectedStore, DEADLINE_MS, limitOf, recordingLog, untilAvailable } from './redis-parts.ts';

const one = (key: string, fields: Partial<Charge> = {}): Charge => ({ key, limit: limitOf(), cost: 1, ...fields });

/** The error of a check. */
async function failureOf(counted: Promise<unknown> | readonly Count[]): Promise<Error & { code?: string }> {
  try {
    await counted;
  } catch (error) {
    return error as Error;
  }
  throw new Error('the check succeeded');
}

describe('createRedisStore', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  let store: Store;
  before(async () => {
    redis = await startRedis();
  });
  beforeEach(async () => {
    store = await connectedStore({ url: `redis://${redis.host}` });
    await redis.command(['flushall']);
  });
  afterEach(() => store.close());
  after(() => redis?.close());

  async function count(charges: readonly Charge[], deadlineMs = DEADLINE_MS): Promise<readonly Count[]> {
    return store.count(charges, deadlineMs);
  }

  it('keeps no connection that is opened after it was closed', async () => {
    const connections = async (): Promise<number> => (await redis.command(['client', 'list'])).match(/^id=/gm)!.length;
    const before = await connections();
    const closed = createRedisStore({ url: `redis://${redis.host}`, log: recordingLog().log });
    closed.close();
    // Its client is loaded and connected after that of the closed one.
    const next = await connectedStore({ url: `redis://${redis.host}` });
    await until(async () => (await connections()) === before + 1);
    next.close();
  });

  it('sends all checks of a turn in one command', async () => {
    await redis.command(['config', 'resetstat']);
    const checks = Array.from({ length: 300 }, (_, i) => count([one(`a${i % 7}`), one(`b${i}`)].slice(0, 1 + (i % 2))));
    await Promise.all(checks);
    const stats = await redis.command(['info', 'commandstats']);
    expect(stats).to.match(/cmdstat_evalsha:calls=1,/);
  });

  it('sends checks with similar deadlines in one command, others apart', async () => {
    await redis.command(['config', 'resetstat']);
    await Promise.all([5000, 4900, 5100, 4999].map((deadlineMs) => count([one('similar')], deadlineMs)));
    expect(await redis.command(['info', 'commandstats'])).to.match(/cmdstat_evalsha:calls=1,/);
    await Promise.all([5000, 2000, 5000].map((deadlineMs) => count([one('other')], deadlineMs)));
    expect(await redis.command(['info', 'commandstats'])).to.match(/cmdstat_evalsha:calls=4,/);
  });

  it('gathers the checks of several turns while a command has no response, in order', async () => {
    const limit = limitOf({ requests: 1000, unit: 'YEAR' });
    await redis.command(['config', 'resetstat']);
    const checks: Promise<readonly Count[]>[] = [];
    for (let i = 0; i < 500; i++) {
      checks.push(count([one('gathered', { limit })]));
      await nextTurn();
    }
    const remaining = (await Promise.all(checks)).map(([each]) => each!.remaining);
    expect(remaining).to.deep.equal(Array.from({ length: 500 }, (_, i) => 999 - i));
    const calls = /cmdstat_evalsha:calls=(\d+),/.exec(await redis.command(['info', 'commandstats']))![1];
    expect(Number(calls)).to.be.below(400);
  });

  it('sends a check at once while no command is in progress', async () => {
    await redis.command(['config', 'resetstat']);
    for (let i = 0; i < 20; i++) await count([one('idle')]);
    expect(await redis.command(['info', 'commandstats'])).to.match(/cmdstat_evalsha:calls=20,/);
  });

  it('counts exactly across 3 stores', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => connectedStore({ url: `redis://${redis.host}` })));
    const charge = one('exact', { limit: limitOf({ requests: 100, unit: 'YEAR' }) });
    const checks = Array.from({ length: 1000 }, async (_, i) => {
      await wait(i % 20);
      return stores[i % 3]!.count([charge], DEADLINE_MS);
    });
    const outcomes = await Promise.all(checks);
    expect(outcomes.filter(([outcome]) => !outcome!.isOver)).to.have.length(100);
    for (const each of stores) each.close();
  });

  it('lets every key expire', async () => {
    for (const algorithm of ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const) {
      for (const unit of ['HOUR', 'MONTH', 'YEAR'] as const)
        await count([one(`k${algorithm}`, { limit: limitOf({ unit, algorithm }) })]);
    }
    const keys = (await redis.command(['keys', '*'])).split('\r\n').filter((line) => line.startsWith('rate-limit:'));
    expect(keys).to.have.length(9);
    for (const key of keys) expect(await redis.command(['pttl', key])).to.match(/^:[1-9]/);
  });

  it('creates no key for a check that only reads', async () => {
    for (const algorithm of ['FIXED_WINDOW', 'SLIDING_WINDOW', 'TOKEN_BUCKET'] as const)
      await count([one('read', { cost: 0, limit: limitOf({ algorithm }) })]);
    expect(await redis.command(['dbsize'])).to.equal(':0\r\n');
  });

  it('counts up to 2^53 - 1, and stays over the limit', async () => {
    const charge = one('huge', { cost: Number.MAX_SAFE_INTEGER });
    for (let i = 0; i < 2000; i++) void count([charge]);
    const [outcome] = await count([{ ...charge, cost: Number.MAX_VALUE }]);
    expect(outcome).to.include({ isOver: true, remaining: 0 });
    expect(await redis.command(['get', 'rate-limit:fh|huge'])).to.include(String(Number.MAX_SAFE_INTEGER));
  });

  it('starts a counter again that would live longer than its window', async () => {
    await redis.command(['set', 'rate-limit:fs|stuck', '500']);
    const limit = limitOf({ unit: 'SECOND' });
    expect((await count([one('stuck', { limit })]))[0]).to.include({ isOver: false, remaining: 9 });
    expect(await redis.command(['pttl', 'rate-limit:fs|stuck'])).to.match(/^:\d/);
  });

  for (const [algorithm, letter] of [
    ['FIXED_WINDOW', 'f'],
    ['SLIDING_WINDOW', 's'],
    ['TOKEN_BUCKET', 'b'],
  ] as const) {
    for (const value of [
      ['set', 'key', 'x'],
      ['lpush', 'key', 'x'],
      ['set', 'key', '1 2 3 4'],
      ['set', 'key', ''],
    ]) {
      for (const cost of [0, 1]) {
        it(`rejects only the check whose key holds something else: ${algorithm}, cost ${cost}, ${value[0]} "${value[2]}"`, async () => {
          await redis.command([value[0]!, `rate-limit:${letter}h|foreign`, value[2]!]);
          const limit = limitOf({ algorithm });
          const [first, foreign, last] = await Promise.all([
            count([one('a', { limit })]),
            failureOf(count([one('b', { limit }), one('foreign', { limit, cost }), one('c', { limit })])),
            count([one('d', { limit })]),
          ]);
          expect([first[0], last[0]].map((each) => each!.remaining)).to.deep.equal([9, 9]);
          expect(foreign.code).to.equal('ERR_RATE_LIMIT_STORE');
          expect(foreign.message).to.include('not a counter');
        });
      }
    }
  }

  it('loads the script again after the script cache was flushed', async () => {
    await redis.command(['script', 'flush']);
    const checks = Array.from({ length: 10 }, () => count([one('flushed')]));
    expect((await Promise.all(checks)).at(-1)![0]).to.include({ remaining: 0, isOver: false });
  });

  it('works over a Unix socket, with a password, and with an ACL user that may touch its keys only', async () => {
    const locked = await startRedis({ password: 'hunter2' });
    await locked.command(['acl', 'setuser', 'limiter', 'on', '>s3cret', '~rate-limit:*', '+@all']);
    for (const url of [
      locked.unixHost.replace('unix://', 'unix://:hunter2@'),
      `redis://:hunter2@${locked.host}/2`,
      `redis://limiter:s3cret@${locked.host}`,
    ]) {
      const other = await connectedStore({ url });
      expect(
        (await other.count([one('acl', { limit: limitOf({ requests: 1 }) })], DEADLINE_MS))[0]!.remaining,
      ).to.equal(0);
      other.close();
      await locked.command(['flushall']);
    }
    const { log, lines, details } = recordingLog();
    const wrong = createRedisStore({ url: `redis://limiter:hunter3@${locked.host}`, log });
    await wait(100);
    const error = await failureOf(wrong.count([one('a')], 1000));
    expect(JSON.stringify([error.message, String(error.stack), details])).not.to.include('hunter3');
    expect(lines).to.deep.equal(['Redis rejected the user name or password']);
    wrong.close();
    await locked.close();
  });

  for (const url of ['', 'http://:hunter2@redis', 'redis+cluster://:hunter2@a/1', 'redis+sentinel://:hunter2@a']) {
    it(`rejects the invalid URL "${url}" without repeating it`, () => {
      expect(() => createRedisStore({ url, log: recordingLog().log }))
        .to.throw(/^(?!.*hunter2)redis: /)
        .with.property('code', 'ERR_RATE_LIMIT_REDIS');
    });
  }

  it('rejects a prefix with braces', () => {
    const create = (): Store =>
      createRedisStore({ url: `redis://${redis.host}`, prefix: 'a{b', log: recordingLog().log });
    expect(create).to.throw().with.property('code', 'ERR_RATE_LIMIT_REDIS');
  });

  it('rejects checks after it was closed', async () => {
    const pending = failureOf(count([one('a')]));
    store.close();
    expect((await pending).message).to.include('closed');
    expect((await failureOf(count([one('a')]))).message).to.include('closed');
  });

  it('rejects checks at once when too many are waiting, with one warning', async () => {
    const { log, lines } = recordingLog();
    const metrics = createMetrics();
    const small = await connectedStore({ url: `redis://${redis.host}`, maxWaiting: 100, log, metrics });
    const results = await Promise.allSettled(
      Array.from({ length: 300 }, () => small.count([one('many')], DEADLINE_MS)),
    );
    expect(results.filter(({ status }) => status === 'rejected')).to.have.length(200);
    expect(lines).to.deep.equal(['rate limit checks rejected: too many are waiting for Redis']);
    const { stat } = metrics.list().find(({ name }) => name.metric.endsWith('charges_rejected'))!;
    expect(stat).to.have.property('value', 200);
    small.close();
  });
});

describe('createRedisStore without a usable Redis', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis?.close());

  /**
   * Returns whether a timer that starts now has fired. In a process that gets no time, it still fires behind the earlier timers of the
   * code under test.
   */
  function startTimer(milliseconds: number): () => boolean {
    let isOver = false;
    const timer = setTimeout(() => (isOver = true), milliseconds);
    return () => {
      clearTimeout(timer);
      return isOver;
    };
  }

  /** Checks one every 5 ms; rejects within the deadline and logs little, then recovers. */
  async function expectOutage(how: {
    begin(): unknown;
    end(): unknown;
    recoveryMs?: number;
    message?: RegExp;
  }): Promise<void> {
    const { log, lines } = recordingLog();
    const store = await connectedStore({ url: `redis://${redis.host}`, log });
    await how.begin();
    let failed = 0;
    for (let i = 0; i < 200; i++) {
      // Far longer than the limit of a count, and shorter than any connection takes to fail by itself.
      const isLate = startTimer(10_000);
      const outcomes = await Promise.allSettled([1, 2, 3].map((n) => store.count([one(`k${n}`)], 50)));
      failed += outcomes.filter(({ status }) => status === 'rejected').length;
      expect(isLate()).to.equal(false);
      for (const each of outcomes)
        if (each.status === 'rejected') expect(each.reason).to.have.property('code', 'ERR_RATE_LIMIT_STORE');
      await wait(5);
    }
    expect(failed).to.be.greaterThan(500);
    expect(lines).to.have.length.within(1, 2);
    await how.end();
    expect(await untilAvailable(store)).to.be.below(how.recoveryMs ?? 20_000);
    store.close();
  }

  it('survives a Redis that is frozen', () => expectOutage({ begin: () => redis.freeze(), end: () => redis.thaw() }));

  it('survives a Redis that was killed', () => expectOutage({ begin: () => redis.stop(), end: () => redis.start() }));

  it('survives a full Redis', () =>
    expectOutage({
      begin: () => redis.command(['config', 'set', 'maxmemory', '1']),
      end: () => redis.command(['config', 'set', 'maxmemory', '0']),
    }));

  it('survives a read-only replica', async () => {
    const primary = await startRedis();
    await expectOutage({
      begin: () => redis.command(['replicaof', '127.0.0.1', String(primary.port)]),
      end: () => redis.command(['replicaof', 'no', 'one']),
    });
    await primary.close();
  });

  it('starts without Redis, and recovers when it is there', async () => {
    await redis.stop();
    const { log, lines } = recordingLog();
    const store = createRedisStore({ url: `redis://${redis.host}`, log });
    expect((await failureOf(store.count([one('a')], 50))).code).to.equal('ERR_RATE_LIMIT_STORE');
    await wait(1000);
    await redis.start();
    expect(await untilAvailable(store)).to.be.below(20_000);
    expect(lines).to.deep.equal(['Redis is unavailable', 'Redis is available again']);
    store.close();
  });

  it('keeps no memory of 100,000 checks while Redis is frozen', async () => {
    const store = await connectedStore({ url: `redis://${redis.host}`, log: recordingLog().log });
    redis.freeze();
    const before = process.memoryUsage().heapUsed;
    let open = 0;
    let rejected = 0;
    for (let i = 0; i < 100_000; i++) {
      open++;
      Promise.resolve(store.count([one(`frozen${i}`)], 100)).then(
        () => open--,
        () => {
          open--;
          rejected++;
        },
      );
      if (i % 1000 === 999) await wait(1);
    }
    await wait(300);
    expect(open).to.equal(0);
    expect(rejected).to.equal(100_000);
    globalThis.gc?.();
    expect(process.memoryUsage().heapUsed - before).to.be.below(100e6);
    redis.thaw();
    expect(await untilAvailable(store)).to.be.below(20_000);
    store.close();
  });
});

describe('createRedisStore with a server that is not Redis', function () {
  this.timeout(30_000);
  const hello = '%2\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n';
  const replies: Readonly<Record<string, string>> = {
    text: 'HTTP/1.1 400 Bad Request\r\n\r\n',
    zeros: '\0\0\0\0\r\n',
    'a huge array': '*2000000000\r\n:1\r\n',
    'a huge text': '$2000000000\r\nxxxx',
    'a negative length': '$-7\r\n',
    'another type': '+OK\r\n',
    'too short an array': '*1\r\n:1\r\n',
    'too long an array': '*3\r\n:1\r\n:1\r\n:1\r\n',
    'an array of arrays': '*2\r\n:1\r\n*1\r\n:1\r\n',
    'null instead of a count': '*2\r\n:1\r\n_\r\n',
    'a fraction': '*2\r\n:1\r\n,1.5\r\n',
    'an infinite time': '*2\r\n,inf\r\n:1\r\n',
    'deep arrays': '*1\r\n'.repeat(100_000),
  };
  const sockets = new Set<Socket>();
  let server: Server;
  let store: Store | undefined;
  // Also when a test fails: the process would not end.
  afterEach(() => {
    store?.close();
    server.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  });

  for (const [what, reply] of Object.entries(replies)) {
    it(`rejects checks within the deadline: ${what}`, async () => {
      server = createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('data', (data) => {
          const commands = data.toString('latin1');
          if (commands.includes('HELLO')) socket.write(hello);
          for (const _ of commands.matchAll(/CLIENT\r\n/g)) socket.write('+OK\r\n');
          if (/PING/.test(commands)) socket.write('+PONG\r\n');
          if (/EVAL/.test(commands)) socket.write(reply);
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      const { log, lines } = recordingLog();
      const opened = (store = createRedisStore({ url: `redis://127.0.0.1:${port}`, log }));
      const times: number[] = [];
      await wait(300);
      for (let i = 0; i < 20; i++) {
        const startedAt = performance.now();
        const error = await failureOf(opened.count([one('a')], 60));
        expect(error.code).to.equal('ERR_RATE_LIMIT_STORE');
        times.push(performance.now() - startedAt);
      }
      // Single ones may take longer on a busy machine.
      expect(Math.min(...times)).to.be.below(300);
      expect(lines.filter((line) => line !== 'Redis is available again')).to.deep.equal(['Redis is unavailable']);
    });
  }
});
