import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { startNode, type RunningNode } from '../parts/start-node.ts';
import { until } from '../../../../test/parts/until.ts';
import { startWorld, type World } from '../parts/world.ts';

interface Echo {
  readonly headers: Record<string, string>;
}

describe('refreshing tokens', () => {
  let world: World;
  let shift = 0;
  const realNow = Date.now;
  const context = () => createContext({ now: () => Date.now() });
  const protect = (more: Partial<OidcOptions> = {}): void => world.site.use(oidc(world.options(more), context()));
  const visit = (browser: Browser) => browser.send(`${world.site.url}/a`);
  before(async () => {
    world = await startWorld({ times: { accessTokenSeconds: 600, idTokenSeconds: 600 } });
    // One clock for the site, the provider and the browser, which are all in this process; it stands still but for the shifts.
    const start = realNow();
    Date.now = () => start + shift;
  });
  after(() => {
    Date.now = realNow;
    return world.close();
  });
  beforeEach(() => {
    shift = 0;
    world.idp.intercept = undefined;
  });

  const cookies = { cookieOptions: { notSecure: true }, cookie: { allowRefreshing: true } };
  const kinds: Record<string, Partial<OidcOptions>> = { 'in a store': {}, 'in cookies': { session: cookies } };
  for (const [where, more] of Object.entries(kinds)) {
    it(`happens once for many parallel requests, ${where}`, async () => {
      protect(more);
      const browser = createBrowser();
      await browser.visit(`${world.site.url}/a`);
      shift = 601_000;
      const calls = world.idp.tokenCalls.length;
      const answers = await Promise.all(Array.from({ length: 50 }, () => visit(browser)));
      expect(new Set(answers.map((each) => each.status))).to.deep.equal(new Set([200]));
      expect(world.idp.tokenCalls.length - calls).to.equal(1);
    });

    it(`uses the rotated refresh token the next time, ${where}`, async () => {
      protect(more);
      const browser = createBrowser();
      await browser.visit(`${world.site.url}/a`);
      for (const later of [601_000, 1_203_000]) {
        shift = later;
        const calls = world.idp.tokenCalls.length;
        expect((await visit(browser)).status).to.equal(200);
        expect(world.idp.tokenCalls.length - calls, `at ${later}`).to.equal(1);
      }
    });

    it(`leads to one clean login when the refresh token is revoked, ${where}`, async () => {
      protect(more);
      const browser = createBrowser();
      await browser.visit(`${world.site.url}/a`);
      shift = 661_000;
      world.idp.intercept = (req, res) => {
        if (req.url !== '/token') return false;
        res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
        return true;
      };
      expect((await visit(browser)).status).to.equal(302);
      world.idp.intercept = undefined;
      shift = 0;
      expect((await browser.visit(`${world.site.url}/a`)).status).to.equal(200);
    });

    it(`serves until the tokens expire while the provider is down, then returns 503 without a logout, ${where}`, async () => {
      protect(more);
      const browser = createBrowser();
      await browser.visit(`${world.site.url}/a`);
      world.idp.intercept = (req, res) => {
        if (req.url !== '/token') return false;
        res.writeHead(500).end();
        return true;
      };
      shift = 598_500;
      expect((await visit(browser)).status, 'due').to.equal(200);
      shift = 602_500;
      const ended = await visit(browser);
      expect(ended.status, 'ended').to.equal(503);
      expect(ended.headers.get('retry-after')).to.equal('1');
      world.idp.intercept = undefined;
      shift = 606_000;
      expect((await visit(browser)).status, 'back').to.equal(200);
    });
  }

  it('keeps the session if the response has neither an id token nor a new refresh token', async () => {
    protect();
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    world.idp.intercept = (req, res) => {
      if (req.url !== '/token') return false;
      const answer = { access_token: 'opaque', token_type: 'Bearer', expires_in: 600 };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return true;
    };
    shift = 601_000;
    const answer = await visit(browser);
    expect(answer.status).to.equal(200);
    expect(((await answer.json()) as Echo).headers['x-access']).to.equal('opaque');
    shift = 1_190_000;
    expect((await visit(browser)).status).to.equal(200);
  });

  it('rejects a refreshed id token of another user', async () => {
    protect();
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    const other = createBrowser('user@example.com');
    await other.visit(`${world.site.url}/a`);
    const { headers } = (await (await visit(other)).json()) as Echo;
    world.idp.intercept = (req, res) => {
      if (req.url !== '/token') return false;
      const answer = { access_token: 'x', token_type: 'Bearer', expires_in: 600, id_token: headers.jwt };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return true;
    };
    shift = 601_000;
    const answer = await visit(browser);
    expect(answer.status).to.not.equal(200);
  });

  it('requires a new login if refreshing is not allowed', async () => {
    protect({ session: { cookieOptions: { notSecure: true }, redis: { allowRefreshing: false } } });
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    shift = 661_000;
    const calls = world.idp.tokenCalls.length;
    expect((await visit(browser)).status).to.equal(302);
    expect(world.idp.tokenCalls.length).to.equal(calls);
  });

  describe('across processes', () => {
    let redis: RedisServer;
    const nodes: RunningNode[] = [];
    let short: World;
    const times = { accessTokenSeconds: 3, idTokenSeconds: 300 };
    before(async function () {
      await skipWithout(this, 'redis-server');
      redis = await startRedis();
      Date.now = realNow;
      short = await startWorld({ times });
      const session = { cookieOptions: { notSecure: true }, redis: { options: { host: redis.host } } };
      const options = short.options({ session });
      nodes.push(...(await Promise.all([1, 2, 3].map(() => startNode(options)))));
      short.protect({ session });
    });
    after(async () => {
      await Promise.all(nodes.map((node) => node.kill()));
      await short?.close();
      await redis?.close();
    });

    const login = async (): Promise<string> => {
      const browser = createBrowser();
      times.accessTokenSeconds = 3;
      await browser.visit(`${short.site.url}/a`);
      // Those of the renewal outlive the test.
      times.accessTokenSeconds = 300;
      return browser.cookie('__session')!;
    };
    const ask = async (node: RunningNode, handle: string) => {
      const response = await fetch(`${node.url}/a`, { headers: { cookie: `__session=${handle}` }, redirect: 'manual' });
      await response.text();
      return response.status;
    };

    /** Has each node connect to Redis and the provider. */
    const warmUp = async (): Promise<void> => {
      const handle = await login();
      for (const node of nodes) await until(async () => (await ask(node, handle)) === 200);
    };

    it('200 parallel requests at expiry on three nodes make one call', async () => {
      await warmUp();
      const handle = await login();
      await until(() => expired(handle));
      const calls = short.idp.tokenCalls.length;
      const statuses = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(nodes[i % 3]!, handle)));
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
      expect(short.idp.tokenCalls.length - calls).to.equal(1);
      console.log(
        `      sent 200, answered ${statuses.length}, lost ${statuses.filter((each) => each !== 200).length}`,
      );
    });

    /** True 3.2 s after the login: nothing but time ends a token. */
    const expired = (() => {
      const since = new Map<string, number>();
      return async (handle: string) => {
        if (!since.has(handle)) since.set(handle, Date.now());
        return Date.now() - since.get(handle)! > 3200;
      };
    })();

    it('the lock of a killed process expires, and the session survives', async () => {
      const handle = await login();
      await until(() => expired(handle));
      let released: (() => void) | undefined;
      short.idp.intercept = (req) => {
        if (req.url !== '/token' || released) return false;
        released = () => {};
        return true;
      };
      const dead = ask(nodes[2]!, handle).catch(() => 0);
      await until(() => released !== undefined);
      await nodes[2]!.kill();
      expect(await dead).to.equal(0);
      const statuses = await Promise.all([ask(nodes[0]!, handle), ask(nodes[1]!, handle)]);
      expect(statuses).to.deep.equal([200, 200]);
    });
  });
});
