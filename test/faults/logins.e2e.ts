import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../apps/gateway/test/gateway-process.ts';
import { createBrowser } from '../../packages/oidc/test/parts/browser.ts';
import { skipWithout } from '../parts/apt.ts';
import { startRedis, type RedisServer } from '../parts/redis.ts';
import { loggedIn, redisSession, refuseAll, startLoginNodes, statusAt, type LoginNodes } from './login-nodes.ts';

const ACCESS_SECONDS = 3;

describe('slow faults of logins at three gateways', function () {
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

  it('F14: a refresh token that was revoked: one clean login again, the session is gone everywhere', async () => {
    const browser = await loggedIn(world);
    await untilExpired();
    world.idp.intercept = (req, res) => {
      if (req.url !== '/token') return false;
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    const statuses = await Promise.all([0, 1, 2].map((node) => statusAt(world, browser, node)));
    expect(statuses).to.deep.equal([302, 302, 302]);
    world.idp.intercept = undefined;
    expect(await statusAt(world, browser, 1), 'not even once the provider answers again').to.equal(302);
    expect((await browser.visit(world.privateUrl())).status).to.equal(200);
  });

  it('F9: the provider is away when a refresh is due: 503, not a logout, and 200 when it is back', async () => {
    const browser = await loggedIn(world);
    await untilExpired();
    world.idp.intercept = refuseAll;
    expect(await statusAt(world, browser, 0)).to.equal(503);
    world.idp.intercept = undefined;
    await until(async () => (await statusAt(world, browser, 0)) === 200, 'the session works again');
  });

  it('F10: a provider that hangs at the callback: 504 in time, and the same callback works afterwards', async () => {
    const browser = createBrowser();
    let hung = 0;
    world.idp.intercept = (req) => {
      if (req.url !== '/token') return false;
      hung++;
      return true;
    };
    const callback = await browser.visit(world.privateUrl(), { stopAt: (url) => url.includes('/callback') });
    const slow = await browser.send(callback.url);
    expect(hung).to.be.greaterThan(0);
    expect(slow.status).to.equal(504);
    world.idp.intercept = undefined;
    const again = await browser.visit(callback.url);
    expect(again.status, again.hops.join(' → ')).to.equal(200);
  });

  it('F16: the holder of the lock is killed in the middle of a refresh: the next one refreshes', async () => {
    const browser = await loggedIn(world);
    await untilExpired();
    let asked = false;
    world.idp.intercept = (req) => {
      if (req.url !== '/token' || asked) return false;
      asked = true;
      return true;
    };
    const dead = statusAt(world, browser, 2).catch(() => 0);
    await until(() => asked, 'the refresh');
    world.nodes[2]!.child.kill('SIGKILL');
    expect(await dead).to.equal(0);
    const statuses = await Promise.all([statusAt(world, browser, 0), statusAt(world, browser, 1)]);
    expect(statuses).to.deep.equal([200, 200]);
  });

  it('F7: the password of Redis changes: 503, and the new one works without a restart', async () => {
    const browser = await loggedIn(world);
    const socket = connect(redis.port, '127.0.0.1');
    socket.write('CONFIG SET requirepass new\r\nCLIENT KILL TYPE normal SKIPME yes\r\n');
    await once(socket, 'data');
    socket.destroy();
    await until(async () => (await statusAt(world, browser, 0)) === 503, 'a 503');
    const log = (): string => world.nodes[0]!.output + world.nodes[0]!.errors;
    await until(
      async () => (await statusAt(world, browser, 0)) === 503 && /NOAUTH/.test(log()),
      'the cause in the log',
    );
    world.setSession(redisSession(`redis://:new@${redis.host}`));
    await until(async () => (await statusAt(world, browser, 0)) === 200, 'the session works again');
  });
});
