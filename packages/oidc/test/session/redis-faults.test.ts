import { expect } from 'chai';
import { silentLoggers } from '@edge-gateway/core';
import { createSessionRedis } from '../../src/session/redis.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { createBrowser } from '../parts/browser.ts';
import { until } from '../../../../test/parts/until.ts';
import { startWorld, type World } from '../parts/world.ts';

describe('sessions in a Redis that fails', () => {
  let world: World;
  let redis: RedisServer;
  before(async function () {
    await skipWithout(this, 'redis-server');
    world = await startWorld();
  });
  after(() => world?.close());
  beforeEach(async () => {
    redis = await startRedis();
  });
  afterEach(() => redis.close());

  const protect = (failOnFetchFailure: boolean): void => {
    const session = {
      failOnFetchFailure,
      cookieOptions: { notSecure: true },
      redis: { options: { host: redis.host } },
    };
    world.protect({ session });
  };
  const status = async (browser: ReturnType<typeof createBrowser>): Promise<number> =>
    (await browser.send(`${world.site.url}/a`)).status;

  it('returns 503 with Retry-After while Redis is frozen, and the old session works again', async () => {
    protect(true);
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    redis.freeze();
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.send(`${world.site.url}/a`)));
    expect(answers.map((answer) => answer.status)).to.deep.equal(Array.from({ length: 20 }, () => 503));
    expect(answers[0]!.headers.get('retry-after')).to.equal('1');
    redis.thaw();
    await until(async () => (await status(browser)) === 200);
  });

  it('accepts a response that arrived while this process was blocked', async () => {
    const store = createSessionRedis({ host: redis.host }, silentLoggers.get('redis'));
    await store.run((each) => each.set('key', 'value'));
    const asked = store.run((each) => each.get('key'));
    // The client writes the command in the next turn of the event loop.
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    const end = Date.now() + 1500;
    while (Date.now() < end);
    expect(await asked).to.equal('value');
    store.disconnect();
  });

  it('returns 503 while Redis is stopped', async () => {
    protect(true);
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    await redis.stop();
    expect(await status(browser)).to.equal(503);
    await redis.start();
    await until(async () => (await status(browser)) !== 503);
    expect(await status(browser), 'empty, a login is needed').to.equal(302);
    const post = await browser.send(`${world.site.url}/a`, { method: 'POST', body: 'x' });
    expect(post.status).to.equal(401);
  });

  it('offers a new login if failOnFetchFailure is false, and the old session works again', async () => {
    protect(false);
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    const handle = browser.cookie('__session');
    redis.freeze();
    expect(await status(browser)).to.equal(302);
    expect(browser.cookie('__session')).to.equal(handle);
    redis.thaw();
    await until(async () => (await status(browser)) === 200);
  });

  it('returns 503 to a login when Redis is full, and keeps existing sessions', async () => {
    protect(true);
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    await redis.command(['config', 'set', 'maxmemory-policy', 'noeviction']);
    await redis.command(['config', 'set', 'maxmemory', '1']);
    expect(await status(browser)).to.equal(200);
    const other = await createBrowser('user@example.com').visit(`${world.site.url}/a`);
    expect(other.status).to.equal(503);
  });

  it('reconnects when the server becomes a replica, without logging anybody out', async () => {
    protect(true);
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    await redis.command(['replicaof', '127.0.0.1', '1']);
    expect((await createBrowser().visit(`${world.site.url}/a`)).status).to.equal(503);
    await redis.command(['replicaof', 'no', 'one']);
    await until(async () => (await status(browser)) === 200);
    await until(async () => (await createBrowser().visit(`${world.site.url}/a`)).status === 200);
  });

  it('reads from Redis once per request, and writes nothing', async () => {
    protect(true);
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    await redis.command(['config', 'resetstat']);
    for (let i = 0; i < 5; i++) await browser.send(`${world.site.url}/a`);
    const stats = await redis.command(['info', 'commandstats']);
    expect(/cmdstat_get:calls=(\d+)/.exec(stats)?.[1]).to.equal('5');
    expect(stats).to.not.match(/cmdstat_(set|expire|del)/);
  });

  for (const failOnFetchFailure of [true, false]) {
    it(`never returns the session of another user, frozen or not, with failOnFetchFailure: ${failOnFetchFailure}`, async () => {
      protect(failOnFetchFailure);
      const users = ['admin@example.com', 'user@example.com'];
      const browsers = await Promise.all(
        users.map(async (user) => {
          const browser = createBrowser(user);
          await browser.visit(`${world.site.url}/a`);
          return browser;
        }),
      );
      const owners: string[] = [];
      const ask = async (i: number): Promise<number> => {
        const answer = await browsers[i]!.send(`${world.site.url}/a`);
        const text = await answer.text();
        if (answer.status !== 200) return answer.status;
        const { headers } = JSON.parse(text) as { headers: Record<string, string> };
        owners.push(`${users[i]} ${headers['x-email']}`);
        return 200;
      };
      const statuses = new Set<number>();
      const burst = async (): Promise<void> => {
        for (const status of await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i % 2)))) statuses.add(status);
      };
      await burst();
      for (let i = 0; i < 3; i++) {
        redis.freeze();
        await burst();
        redis.thaw();
        await until(async () => (await ask(0)) === 200 && (await ask(1)) === 200);
        await burst();
      }
      expect([...statuses].toSorted()).to.deep.equal([200, failOnFetchFailure ? 503 : 302]);
      expect(new Set(owners)).to.deep.equal(new Set(users.map((user) => `${user} ${user}`)));
    });
  }

  it('does not wait for a Redis that never responds', async () => {
    protect(true);
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    redis.freeze();
    const begun = Date.now();
    for (let i = 0; i < 3; i++) expect(await status(browser)).to.equal(503);
    // About a second each; the bound leaves room for a machine that is ten times slower.
    expect(Date.now() - begun).to.be.below(30_000);
    redis.thaw();
  });

  it('returns 503 while the password is wrong, and works with the right one without a restart', async () => {
    protect(true);
    await redis.command(['config', 'set', 'requirepass', 'right']);
    expect((await createBrowser().visit(`${world.site.url}/a`)).status).to.equal(503);
    world.protect({
      session: { cookieOptions: { notSecure: true }, redis: { options: { host: `redis://:right@${redis.host}` } } },
    });
    expect((await createBrowser().visit(`${world.site.url}/a`)).status).to.equal(200);
  });
});
