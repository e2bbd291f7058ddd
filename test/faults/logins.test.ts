import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { createBrowser } from '../../packages/oidc/test/parts/browser.ts';
import { skipWithout } from '../parts/apt.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';
import { loggedIn, redisSession, refuseAll, startLoginNodes, statusAt, type LoginNodes } from './login-nodes.ts';

const ACCESS_SECONDS = 3;

describe('logins at three gateways that share a Redis', function () {
  this.timeout(60_000);
  let redis: RedisServer;
  let world: LoginNodes;
  before(async function () {
    await skipWithout(this, 'redis-server');
    redis = await startRedis();
    world = await startLoginNodes({
      count: 3,
      session: redisSession(redis.host),
      times: { accessTokenSeconds: ACCESS_SECONDS, idTokenSeconds: 300 },
    });
  });
  after(async () => {
    await world?.close();
    await redis?.close();
  });
  afterEach(() => {
    world.idp.intercept = undefined;
  });

  /** Nothing but time ends a token. */
  const untilExpired = (): Promise<void> => wait((ACCESS_SECONDS + 1) * 1000);

  it('one login holds at every gateway', async () => {
    const browser = await loggedIn(world);
    expect(await Promise.all([0, 1, 2].map((node) => statusAt(world, browser, node)))).to.deep.equal([200, 200, 200]);
  });

  it('F15: 200 parallel requests at expiry make one token call', async () => {
    const browser = await loggedIn(world);
    await untilExpired();
    const before = world.idp.tokenCalls.length;
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, i) => statusAt(world, browser, i % 3)));
    const answered = statuses.filter((status) => status === 200).length;
    console.log(`      F15: sent 200, answered ${answered}, lost ${200 - answered}`);
    expect(answered).to.equal(200);
    expect(world.idp.tokenCalls.length - before).to.equal(1);
  });

  it('F9: the provider goes away: sessions go on', async () => {
    const browser = await loggedIn(world);
    world.idp.intercept = refuseAll;
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, i) => statusAt(world, browser, i % 3)));
    const answered = statuses.filter((status) => status === 200).length;
    console.log(`      F9: sent 30, answered ${answered}, lost ${30 - answered}`);
    expect(answered).to.equal(30);
  });

  it('F2: Redis is frozen: 503 with Retry-After in time, other routes go on, the session works again', async () => {
    const browser = await loggedIn(world);
    redis.freeze();
    const refused = await browser.send(world.privateUrl());
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect((await browser.send(`${world.nodes[0]!.url}/public`)).status).to.equal(200);
    redis.thaw();
    await until(async () => (await statusAt(world, browser, 0)) === 200, 'the session works again');
  });

  it('F1 and F4: Redis is stopped: 503; empty again: pages are asked to log in, scripts and POST get 401', async () => {
    const browser = await loggedIn(world);
    await redis.stop();
    await until(async () => (await statusAt(world, browser, 0)) === 503, 'a 503');
    expect((await browser.send(`${world.nodes[0]!.url}/public`)).status).to.equal(200);
    await redis.start();
    await until(async () => (await statusAt(world, browser, 0)) === 302, 'a login is offered');
    const script = await browser.send(world.privateUrl(), { headers: { 'x-requested-with': 'XMLHttpRequest' } });
    const post = await browser.send(world.privateUrl(), { method: 'POST', body: 'x' });
    expect([script.status, post.status]).to.deep.equal([401, 401]);
    expect(world.site.seen.filter(({ url }) => url.startsWith('POST'))).to.have.length(0);
    expect((await browser.visit(world.privateUrl())).status).to.equal(200);
  });

  it('F8: the provider is away at the start: other routes are served, a login is 503, later it works', async () => {
    const alone = await startLoginNodes({ session: redisSession(redis.host), withoutProvider: true });
    try {
      const browser = createBrowser();
      expect((await browser.send(`${alone.nodes[0]!.url}/public`)).status).to.equal(200);
      expect((await browser.send(alone.privateUrl())).status).to.equal(503);
      alone.idp.intercept = undefined;
      await until(async () => (await browser.visit(alone.privateUrl())).status === 200, 'a login');
    } finally {
      await alone.close();
    }
  });
});
