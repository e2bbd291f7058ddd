import { expect } from 'chai';
import type { OidcOptions } from '../../src/index.ts';
import { skipWithout } from '../../../../test/parts/apt.ts';
import { startRedis, type RedisServer } from '../../../../test/parts/redis.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { useBadWorld } from '../parts/bad-world.ts';

type Session = Exclude<OidcOptions['session'], 'request' | undefined>;

/** Each field of the block `session`, by what would not be so if it were ignored. */
describe('the field of sessions', () => {
  const world = useBadWorld();

  const plain = { cookieOptions: { notSecure: true } };
  async function logIn(more: Partial<OidcOptions>): Promise<Browser> {
    world.protect(more);
    const browser = createBrowser();
    const { status, body } = await world.visit(browser);
    expect(status, body).to.equal(200);
    return browser;
  }
  const cookieOf = async (session: Session, name?: string): Promise<string> => {
    world.protect({ session });
    const { browser, url } = await world.atCallback();
    const answer = await browser.send(url);
    return answer.headers.getSetCookie().find((each) => each.includes(`${name ?? '__session'}=`))!;
  };

  for (const [name, more] of Object.entries({
    sessionIdHeaderName: { sessionIdHeaderName: 'x-session' },
    'session.redis.headerName': { session: { ...plain, redis: { headerName: 'x-session' } } },
  })) {
    it(`${name} sends the session id to the provider, the same one at a renewal`, async () => {
      world.idp.token = (answer) => ({ body: { ...answer, refresh_token: 'again' } });
      const browser = await logIn(more);
      const id = world.idp.tokenHeaders['x-session'];
      expect(id).to.match(/^[\w-]{43}$/);
      expect(id).to.not.equal(browser.cookie('__session'));
      world.idp.tokenHeaders = {};
      world.shift = 599_000;
      expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
      expect(world.idp.tokenHeaders['x-session']).to.equal(id);
    });
  }

  const options: Record<string, [NonNullable<Session['cookieOptions']>, RegExp]> = {
    'by default': [{}, /^__Host-__session=[\w-]{43}; Path=\/; Max-Age=2592000; Secure; HttpOnly; SameSite=Lax$/],
    maxAge: [{ maxAge: 60 }, /^__Host-.*; Max-Age=60;/],
    'maxAge 0 ends with the browser': [{ maxAge: 0 }, /^(?!.*(Max-Age|Expires))/],
    notSecure: [{ notSecure: true }, /^__session=(?!.*Secure)/],
    httpOnly: [{ httpOnly: false }, /^(?!.*HttpOnly)/],
    path: [{ path: '/shop' }, /^__session=.*; Path=\/shop;/],
    'path that is empty': [{ path: '' }, /^__session=(?!.*Path)/],
    'sameSite DefaultMode': [{ sameSite: 'DefaultMode' }, /^(?!.*SameSite)/],
    'sameSite StrictMode': [{ sameSite: 'StrictMode' }, /; SameSite=Strict$/],
    'sameSite NoneMode': [{ sameSite: 'NoneMode' }, /; Secure; HttpOnly; SameSite=None$/],
    domain: [{ domain: 'example.com' }, /^__session=.*; Domain=example.com;/],
  };
  for (const [name, [cookieOptions, expected]] of Object.entries(options)) {
    it(`cookieOptions: ${name}`, async () => expect(await cookieOf({ redis: {}, cookieOptions })).to.match(expected));
  }

  for (const [sameSite, expected] of [
    ['DefaultMode', 'Lax'],
    ['LaxMode', 'Lax'],
    // The way back from the provider is a navigation of another site: it comes without strict cookies.
    ['StrictMode', 'Lax'],
    ['NoneMode', 'None'],
  ] as const) {
    it(`cookieOptions: with sameSite ${sameSite} the cookie of a login in progress is ${expected}`, async () => {
      world.protect({ session: { redis: {}, cookieOptions: { sameSite } } });
      const [begun] = (await createBrowser().send(`${world.site.url}/a`)).headers.getSetCookie();
      expect(begun).to.match(new RegExp(`^__Host-login_.*; Secure; HttpOnly; SameSite=${expected}$`));
    });
  }

  it('cookies are never so long that servers reject the request head', async () => {
    world.protect({ session: { ...plain } });
    for (const [size, status] of [
      [11_100, 200],
      [13_000, 500],
    ] as const) {
      world.idp.token = (answer) => ({ body: { ...answer, access_token: 'y'.repeat(size) } });
      const browser = createBrowser();
      const { status: answered, body } = await world.visit(browser);
      expect(answered, body).to.equal(status);
      if (status === 500) expect(body).to.contain('ERR_OIDC_SESSION_TOO_LARGE');
      else expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
    }
  });

  it('redis.cookieName names the cookie', async () => {
    expect(await cookieOf({ ...plain, redis: { cookieName: 'sid' } }, 'sid')).to.match(/^sid=/);
  });

  it('cookie.targetDomain and redis.targetDomain reject other hosts', async () => {
    for (const kind of ['cookie', 'redis']) {
      world.protect({ session: { ...plain, [kind]: { targetDomain: 'example.com' } } });
      expect((await world.visit()).status, kind).to.equal(403);
      world.protect({ session: { ...plain, [kind]: { targetDomain: '127.0.0.1' } } });
      expect((await world.visit()).status, kind).to.equal(200);
    }
  });

  const renewals: Record<string, [Session, number, number]> = {
    'redis.preExpiryBuffer renews so long before the end': [{ redis: { preExpiryBuffer: '100s' } }, 505_000, 1],
    'redis.preExpiryBuffer has a default of 2 s': [{ redis: {} }, 505_000, 0],
    'redis.allowRefreshing is true by default': [{ redis: {} }, 599_000, 1],
    'redis.allowRefreshing false renews nothing': [{ redis: { allowRefreshing: false } }, 599_000, 0],
    'cookie.allowRefreshing is false by default': [{ cookie: {} }, 598_500, 0],
    'cookie.allowRefreshing renews': [{ cookie: { allowRefreshing: true } }, 598_500, 1],
  };
  for (const [name, [session, shift, renewed]] of Object.entries(renewals)) {
    it(name, async () => {
      world.idp.token = (answer) => ({ body: { ...answer, refresh_token: 'again' } });
      const browser = await logIn({ session: { ...plain, ...session } });
      const calls = world.idp.tokenCalls;
      world.stopClock();
      world.shift = shift;
      expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
      expect(world.idp.tokenCalls - calls).to.equal(renewed);
    });
  }

  describe('redis.options', () => {
    let redis: RedisServer;
    before(async function () {
      await skipWithout(this, 'redis-server');
      redis = await startRedis({ password: 'p@ss' });
    });
    after(() => redis?.close());

    it('host with password, db and poolSize are used, and keyPrefix precedes each key', async () => {
      const options = { host: `redis://:p%40ss@${redis.host}`, db: 5, poolSize: 2 };
      await logIn({ session: { ...plain, redis: { options, keyPrefix: 'shop:' } } });
      await world.visit();
      expect(await redis.command(['info', 'keyspace']))
        .to.match(/db5:keys=\d/)
        .and.not.match(/db0/);
      const clients = (await redis.command(['client', 'list'])).split('\n').filter((line) => line.includes(' db=5 '));
      expect(clients.length).to.equal(2);
      const keys = await redis.command(['eval', "redis.call('select', 5) return redis.call('keys', '*')", '0']);
      const names = keys.split('\r\n').filter((line) => /^\w+:/.test(line));
      expect(names.length).to.be.greaterThan(0);
      for (const name of names) expect(name).to.match(/^shop:/);
    });

    it('a password in host appears in no log line, page or response, even if it is wrong', async () => {
      const options = { host: `redis://:p%40ss-wrong@${redis.host}` };
      world.protect({ session: { ...plain, failOnFetchFailure: true, redis: { options } } });
      const { status, body } = await world.visit();
      expect(status).to.equal(503);
      const said = JSON.stringify(world.log);
      expect(said).to.contain('Redis rejected the user name or password');
      expect(said + body)
        .to.not.contain('p@ss')
        .and.not.contain('p%40ss');
    });
  });
});
