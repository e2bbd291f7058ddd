import { expect } from 'chai';
import session, { type SessionData } from 'express-session';
import { useBadWorld } from '../parts/bad-world.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };

describe('the channels of a logout', () => {
  const world = useBadWorld();
  const channel = { frontChannelLogout: { path: '/channel' } };
  const statusOf = async (browser: Browser): Promise<number> => (await browser.send(`${world.site.url}/a`)).status;
  const login = async (sid = '1'): Promise<Browser> => {
    world.idp.claims = (claims) => ({ ...claims, sid });
    const browser = createBrowser();
    await world.visit(browser);
    return browser;
  };
  beforeEach(() => world.protect(channel));

  describe('front channel', () => {
    const ask = (
      browser: Browser,
      query: string | Record<string, string>,
      headers: Record<string, string> = {},
    ): Promise<Response> => browser.send(`${world.site.url}/channel?${new URLSearchParams(query)}`, { headers });

    it('ends the session of the browser that names it', async () => {
      const [one, two] = [await login('1'), await login('2')];
      const answer = await ask(one, { iss: world.idp.issuer, sid: '1' }, { 'sec-fetch-site': 'cross-site' });
      expect(answer.status).to.equal(200);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
      expect(one.cookie('__session')).to.equal(undefined);
      expect([await statusOf(one), await statusOf(two)]).to.deep.equal([302, 200]);
    });

    it('ends all sessions with the same sid', async () => {
      const [one, same] = [await login('1'), await login('1')];
      await ask(one, { iss: world.idp.issuer, sid: '1' });
      expect(await statusOf(same)).to.equal(302);
    });

    it('does not count as a login that was not kept: a user may log in and out repeatedly', async () => {
      const browser = createBrowser();
      world.idp.claims = (claims) => ({ ...claims, sid: '1' });
      for (let i = 0; i < 4; i++) {
        expect((await world.visit(browser)).status, `login ${i}`).to.equal(200);
        await ask(browser, { iss: world.idp.issuer, sid: '1' });
      }
    });

    it('ends nothing for a request without that session: logging others out', async () => {
      const [victim, attacker] = [await login('1'), await login('2')];
      for (const browser of [createBrowser(), attacker])
        expect((await ask(browser, { iss: world.idp.issuer, sid: '1' })).status).to.equal(200);
      expect([await statusOf(victim), await statusOf(attacker)]).to.deep.equal([200, 200]);
    });

    for (const [name, query] of Object.entries({
      'iss alone': (iss: string) => `iss=${iss}`,
      'sid alone': () => 'sid=1',
      'another issuer': () => 'iss=https://other.example&sid=1',
      'two issuers': (iss: string) => `iss=${iss}&iss=https://other.example&sid=1&sid=1`,
      'an empty issuer': () => 'iss=&sid=1',
    })) {
      it(`rejects ${name}`, async () => {
        const browser = await login();
        expect((await ask(browser, query(world.idp.issuer))).status).to.equal(400);
        expect(await statusOf(browser)).to.equal(200);
      });
    }

    it('without iss and sid ends the session for a page of the provider', async () => {
      const browser = await login();
      const headers = { 'sec-fetch-site': 'cross-site', referer: `${world.idp.issuer}/` };
      expect((await ask(browser, '', headers)).status).to.equal(200);
      expect(await statusOf(browser)).to.equal(302);
    });

    for (const [name, headers] of Object.entries<Record<string, string>>({
      'another site': { 'sec-fetch-site': 'cross-site' },
      'a sibling host': { 'sec-fetch-site': 'same-site', referer: 'https://sibling.example/' },
      'a site whose path looks like the provider': {
        'sec-fetch-site': 'cross-site',
        referer: 'https://evil.example/id',
      },
    })) {
      it(`without iss and sid ends nothing for ${name}: logout CSRF`, async () => {
        const browser = await login();
        expect((await ask(browser, '', headers)).status).to.equal(400);
        expect(await statusOf(browser)).to.equal(200);
      });
    }
  });

  describe('with an unavailable store', () => {
    let away = false;
    const failing = () => {
      const store = new session.MemoryStore();
      const { get, destroy } = store;
      store.get = (id: string, done: (error: unknown, data?: SessionData | null) => void) =>
        away ? done(new Error('away')) : get.call(store, id, done);
      store.destroy = (id: string, done?: (error?: unknown) => void) =>
        away ? done?.(new Error('away')) : destroy.call(store, id, done);
      return store;
    };
    beforeEach(() => {
      away = false;
      world.protect({ ...channel, session: { store: failing(), cookieOptions: { notSecure: true } } });
    });

    it('the front channel returns 503, and a retry ends the session', async () => {
      const browser = await login();
      const url = `${world.site.url}/channel?${new URLSearchParams({ iss: world.idp.issuer, sid: '1' })}`;
      away = true;
      expect((await browser.send(url)).status).to.equal(503);
      away = false;
      expect((await browser.send(url)).status).to.equal(200);
      expect(await statusOf(browser)).to.equal(302);
    });

    it('a logout returns 503 and keeps the cookie, and a retry succeeds', async () => {
      const browser = await login();
      const handle = browser.cookie('__session');
      away = true;
      const answer = await browser.send(`${world.site.url}/logout`);
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1']);
      expect(browser.cookie('__session')).to.equal(handle);
      away = false;
      expect((await browser.send(`${world.site.url}/logout`)).status).to.equal(302);
      const replay = createBrowser();
      expect(
        (await replay.send(`${world.site.url}/a`, { headers: { cookie: `__session=${handle}` } })).status,
      ).to.equal(302);
    });

    it('the back channel returns 503, and a retry with the same token ends the session, once', async () => {
      const browser = await login();
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: world.idp.issuer, aud: 'web', sid: '1', sub: 'someone', iat: now, exp: now + 60 };
      const token = await world.idp.sign({ ...claims, jti: 'again', events: EVENTS });
      const answer = (): Promise<Response> =>
        createBrowser().send(`${world.site.url}/channel`, {
          method: 'POST',
          body: new URLSearchParams({ logout_token: token }),
        });
      const send = async (): Promise<number> => (await answer()).status;
      away = true;
      const { status, headers } = await answer();
      expect([status, headers.get('retry-after')]).to.deep.equal([503, '1']);
      away = false;
      expect((await Promise.all([send(), send(), send()])).sort()).to.deep.equal([200, 400, 400]);
      expect(await statusOf(browser)).to.equal(302);
      expect(await send()).to.equal(400);
    });
  });

  it('find older sessions of a subject, too', async () => {
    const old = await login('1');
    world.shift = 60_000;
    const young = await login('2');
    const now = Math.floor((Date.now() + world.shift) / 1000);
    const claims = {
      iss: world.idp.issuer,
      aud: 'web',
      sub: 'someone',
      iat: now,
      exp: now + 60,
      jti: 'old',
      events: EVENTS,
    };
    const body = new URLSearchParams({ logout_token: await world.idp.sign(claims) });
    expect((await createBrowser().send(`${world.site.url}/channel`, { method: 'POST', body })).status).to.equal(200);
    expect([await statusOf(old), await statusOf(young)]).to.deep.equal([302, 302]);
  });

  it('with tokens in cookies: the front channel deletes the cookies, the back channel returns 501', async () => {
    world.protect({ ...channel, session: { cookieOptions: { notSecure: true } } });
    const browser = await login();
    const url = `${world.site.url}/channel`;
    expect(
      (await browser.send(url, { method: 'POST', body: new URLSearchParams({ logout_token: 'x' }) })).status,
    ).to.equal(501);
    await browser.send(`${url}?${new URLSearchParams({ iss: world.idp.issuer, sid: '1' })}`);
    expect(browser.cookie('id_token')).to.equal(undefined);
  });
});
