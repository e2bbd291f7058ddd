import { expect } from 'chai';
import session from 'express-session';
import type { ServerResponse } from 'node:http';
import { oidc } from '../../src/index.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { startWorld, type World } from '../parts/world.ts';
import { startBadProvider } from '../parts/bad-provider.ts';
import { startIdentityProvider } from '../parts/identity-provider.ts';
import { startSite } from '../parts/site.ts';
import { until } from '../../../../test/parts/until.ts';

describe('logging out', () => {
  let world: World;
  const login = async (name = 'admin@example.com'): Promise<Browser> => {
    const browser = createBrowser(name);
    await browser.visit(`${world.site.url}/a`);
    return browser;
  };
  before(async () => {
    world = await startWorld();
    world.protect();
  });
  after(() => world.close());

  it('forgets the session and ends the session at the provider', async () => {
    const browser = await login();
    const cookie = `__session=${browser.cookie('__session')}`;
    const answer = await browser.send(`${world.site.url}/logout`);
    expect(answer.status).to.equal(302);
    const location = new URL(answer.headers.get('location')!);
    expect(location.origin).to.equal(world.idp.issuer);
    expect(Object.fromEntries(location.searchParams)).to.deep.equal({
      client_id: 'web',
      post_logout_redirect_uri: `${world.site.url}/bye`,
    });
    expect(browser.cookie('__session')).to.equal(undefined);
    const replayed = await createBrowser().send(`${world.site.url}/a`, { headers: { cookie } });
    expect(replayed.status).to.equal(302);
  });

  it('sends the id token to the provider with idTokenHint', async () => {
    world.protect({ endSessionProperties: { idTokenHint: true } });
    try {
      const answer = await (await login()).send(`${world.site.url}/logout`);
      expect(new URL(answer.headers.get('location')!).searchParams.get('id_token_hint')).to.match(/^ey/);
    } finally {
      world.protect();
    }
  });

  describe('with switch_account', () => {
    const switching = (path: string) => `${world.site.url}/logout?switch_account=${encodeURIComponent(path)}`;

    it('requires the form of the provider, whose session lasts, and returns to the page', async () => {
      const browser = await login('user@example.com');
      const cookie = `__session=${browser.cookie('__session')}`;
      const asked = await browser.visit(switching('/a?b=1'), { stopAt: (url) => url.includes('/interaction/') });
      expect(asked.hops.join(' ')).to.contain('prompt=login').and.not.contain('/session/end');
      expect((await createBrowser().send(`${world.site.url}/a`, { headers: { cookie } })).status).to.equal(302);
      const done = await browser.visit(asked.url);
      expect([done.url, done.status]).to.deep.equal([`${world.site.url}/a?b=1`, 200]);
    });

    it('can be repeated', async () => {
      const browser = await login();
      for (let i = 0; i < 4; i++) expect((await browser.visit(switching('/a'))).status, `switch ${i}`).to.equal(200);
    });

    for (const path of ['https://evil.example/', '//evil.example', '/\\evil.example', '@evil.example', ''])
      it(`returns to no other site: ${JSON.stringify(path)}`, async () => {
        const { url } = await (await login()).visit(switching(path));
        expect(new URL(url).origin).to.equal(world.site.url);
      });

    it('keeps select_account if it is configured', async () => {
      world.protect({ authEndpointQueryParams: { prompt: 'consent select_account' } });
      try {
        const { headers } = await createBrowser().send(switching('/a'));
        expect(new URL(headers.get('location')!).searchParams.get('prompt')).to.equal('consent select_account');
      } finally {
        world.protect();
      }
    });

    it('keeps the session if the provider is unavailable', async () => {
      const more = { session: { cookieOptions: { notSecure: true } } };
      const browser = createBrowser();
      world.protect(more);
      await browser.visit(`${world.site.url}/a`);
      world.protect(more);
      world.idp.intercept = (_req, res) => res.writeHead(503).end() !== undefined;
      expect((await browser.send(switching('/a'))).status).to.equal(503);
      world.idp.intercept = undefined;
      world.protect(more);
      expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
      world.protect();
    });

    it('asks first if another site caused the request', async () => {
      const headers = { 'sec-fetch-site': 'cross-site' };
      const answer = await (await login()).send(switching('/a'), { headers });
      expect(answer.status).to.equal(403);
      expect(await answer.text()).to.match(/href="\/logout\?switch_account=%2Fa&#38;confirm=[\w-]{43}"/);
    });

    it('is an ordinary logout for a script', async () => {
      const answer = await (await login()).send(switching('/a'), { headers: { 'sec-fetch-mode': 'cors' } });
      expect(answer.headers.get('location')).to.contain('/session/end');
    });
  });

  it('revokes the refresh token and the access token', async () => {
    const idp = await startBadProvider();
    const site = await startSite();
    idp.metadata = { revocation_endpoint: `${idp.issuer}/revoke` };
    idp.token = (answer) => ({ body: { ...answer, access_token: 'the access', refresh_token: 'the refresh' } });
    const revoked: (string | null)[] = [];
    idp.intercept = (req, res, body) => {
      if (req.url !== '/revoke') return false;
      revoked.push(new URLSearchParams(body).get('token'));
      res.end();
      return true;
    };
    site.use(oidc(world.options({ issuerUrl: idp.issuer, appUrl: site.url })));
    try {
      const browser = createBrowser();
      await browser.visit(`${site.url}/a`);
      await browser.send(`${site.url}/logout`);
      expect(revoked.sort()).to.deep.equal(['the access', 'the refresh']);
    } finally {
      await idp.close();
      await site.close();
    }
  });

  it('does not count as a login that was not kept: a user may log in and out repeatedly', async () => {
    const browser = createBrowser();
    for (let i = 0; i < 4; i++) {
      expect((await browser.visit(`${world.site.url}/a`)).status, `login ${i}`).to.equal(200);
      await browser.send(`${world.site.url}/logout`);
    }
  });

  for (const [path, status] of [
    ['/logout', 302],
    ['/channel', 200],
  ] as const)
    it(`at ${path} is not undone by a concurrent renewal`, async () => {
      const removed = Promise.withResolvers<void>();
      const store = new session.MemoryStore();
      const destroy = store.destroy.bind(store);
      store.destroy = (id, done) => {
        removed.resolve();
        destroy(id, done);
      };
      const site = await startSite();
      const idp = await startIdentityProvider({ redirectUris: [`${site.url}/callback`] });
      // Due for a renewal at once.
      const block = { preExpiryBuffer: '2h', cookieOptions: { notSecure: true } };
      const frontChannelLogout = { path: '/channel' };
      const options = { issuerUrl: idp.issuer, appUrl: site.url, frontChannelLogout, session: { ...block, store } };
      site.use(oidc(world.options(options)));
      const browser = createBrowser();
      await browser.visit(`${site.url}/a`);
      const cookie = `__session=${browser.cookie('__session')}`;
      const asked = Promise.withResolvers<ServerResponse>();
      idp.intercept = (req, res) => {
        if (req.url !== '/token') return false;
        asked.resolve(res);
        return true;
      };
      const slow = browser.send(`${site.url}/a`);
      const answer = await asked.promise;
      const logout = browser.send(site.url + path);
      await removed.promise;
      const tokens = { access_token: 'renewed', refresh_token: 'next', token_type: 'Bearer', expires_in: 36_000 };
      answer.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens));
      expect((await slow).status, 'the waiting request').to.equal(302);
      expect((await logout).status).to.equal(status);
      expect((await createBrowser().send(`${site.url}/a`, { headers: { cookie } })).status).to.equal(302);
      await idp.close();
      await site.close();
    });

  it('redirects to afterLogoutUrl without a session', async () => {
    const answer = await createBrowser().send(`${world.site.url}/logout`);
    expect(answer.headers.get('location')).to.equal(`${world.site.url}/bye`);
  });

  it('rejects methods other than GET, HEAD and POST', async () => {
    const browser = await login();
    const { status, headers } = await browser.send(`${world.site.url}/logout`, { method: 'DELETE' });
    expect([status, headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, POST']);
    expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
  });

  it('asks first if another site caused the request: logout CSRF', async () => {
    const browser = await login();
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await browser.send(`${world.site.url}/logout`, { headers })).status).to.equal(403);
    expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
  });

  describe('by the back channel', () => {
    const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    it('ends the sessions of the subject once, and rejects every other kind of token', async () => {
      const idp = await startBadProvider();
      const site = await startSite();
      const handler = oidc({
        issuerUrl: idp.issuer,
        clientId: 'web',
        clientSecret: 'x',
        appUrl: site.url,
        callbackPath: '/callback',
        frontChannelLogout: { path: '/channel' },
        session: { redis: {}, cookieOptions: { notSecure: true } },
      });
      site.use(handler);
      try {
        const browser = createBrowser();
        await browser.visit(`${site.url}/a`);
        const now = Math.floor(Date.now() / 1000);
        const good = { iss: idp.issuer, aud: 'web', sub: 'someone', iat: now, exp: now + 60, jti: 'a', events: EVENTS };
        const { events: _e, ...withoutEvents } = good;
        const { jti: _j, ...withoutJti } = good;
        const { sub: _s, ...withoutSub } = good;
        const send = async (token: string) =>
          (
            await createBrowser().send(`${site.url}/channel`, {
              method: 'POST',
              body: new URLSearchParams({ logout_token: token }),
            })
          ).status;
        const bad = [
          { ...good, nonce: 'n' },
          withoutEvents,
          withoutJti,
          withoutSub,
          { ...good, aud: 'other' },
          { ...good, iss: 'https://other.example' },
          { ...good, iat: now - 661, exp: now + 600 },
          { ...good, events: { other: {} } },
        ];
        for (const claims of bad) expect(await send(await idp.sign(claims)), JSON.stringify(claims)).to.equal(400);
        expect(await send(await idp.sign(good, { typ: 'at+jwt' }))).to.equal(400);
        expect(await send('')).to.equal(400);
        expect((await browser.send(`${site.url}/a`)).status).to.equal(200);
        const token = await idp.sign(good, { typ: 'logout+jwt' });
        expect(await send(token)).to.equal(200);
        expect((await browser.send(`${site.url}/a`)).status).to.equal(302);
        expect(await send(token), 'replayed').to.equal(400);
      } finally {
        await idp.close();
        await site.close();
      }
    });

    it('is called by the provider when the user logs out there', async () => {
      const browser = await login('user@example.com');
      const other = createBrowser();
      for (const [key, cookie] of browser.jar) if (cookie.name === '__session') other.jar.set(key, cookie);
      const answer = await browser.send(`${world.site.url}/logout`);
      const page = await browser.send(answer.headers.get('location')!);
      const xsrf = /name="xsrf" value="(\w+)"/.exec(await page.text())?.[1];
      expect(xsrf).to.be.a('string');
      await browser.send(`${world.idp.issuer}/session/end/confirm`, {
        method: 'POST',
        body: new URLSearchParams({ xsrf: xsrf!, logout: 'yes' }),
      });
      await until(async () => (await other.send(`${world.site.url}/a`)).status === 302);
    });
  });
});
