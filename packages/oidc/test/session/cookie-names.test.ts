import { expect } from 'chai';
import express from 'express';
import session from 'express-session';
import type { UserSession } from '@edge-gateway/core/schema';
import { oidc, oidcMethod, type OidcOptions } from '../../src/index.ts';
import { handleCookieName, loginMark, ownCookies } from '../../src/session/cookie-names.ts';
import { createBrowser } from '../parts/browser.ts';
import { startWorld, type World } from '../parts/world.ts';

describe('the cookies of a login', () => {
  const attributes = {
    maxAgeSeconds: 60,
    secure: true,
    httpOnly: true,
    path: '/',
    sameSite: 'Lax',
    domain: undefined,
  } as const;

  it('of a store have the prefix __Host- if their attributes allow it and no name is configured', () => {
    expect(handleCookieName({ redis: {} }, attributes)).to.equal('__Host-__session');
    expect(handleCookieName({ redis: {} }, { ...attributes, secure: false })).to.equal('__session');
    expect(handleCookieName({ redis: {} }, { ...attributes, path: '/shop' })).to.equal('__session');
    expect(handleCookieName({ redis: {} }, { ...attributes, domain: 'example.com' })).to.equal('__session');
    expect(handleCookieName({ redis: { cookieName: 'sid' } }, attributes)).to.equal('sid');
  });

  const own = (block: UserSession): ((name: string) => boolean) => ownCookies({ session: block });
  const cases: readonly (readonly [string, UserSession, readonly string[], readonly string[]])[] = [
    ['a store', { redis: {} }, ['__session', '__Host-__session'], ['id_token', '__session_1', 'session', 'a__session']],
    ['a store with a name', { redis: { cookieName: 'sid' } }, ['sid'], ['__session', 'sid2']],
    [
      'cookies',
      {},
      ['id_token', 'id_token_4', 'access_token_1', 'refresh_token', 'token_mac', '__Host-token_mac'],
      ['id_token_5', 'id_token_x', '__session', 'my_id_token'],
    ],
    [
      'cookies with a prefix',
      { cookie: { keyPrefix: 'shop' } },
      ['shop_id_token_2', '__Host-shop_token_mac'],
      ['id_token'],
    ],
    ['a resource that forwards them', { redis: {}, forwardCookies: true }, [], ['__session', '__Host-__session']],
  ];
  for (const [name, block, mine, others] of cases) {
    it(`are recognized by name: ${name}`, () => {
      const isOwn = own(block);
      for (const each of [...mine, '__Host-login_ab-c_1_tl1x2y_a-b_c-d9', 'login_rounds_a-b_c1'])
        expect(isOwn(each), each).to.equal(true);
      for (const each of [...others, 'login_name', 'login', 'last_login_ab-c_1_tl1x2y_a-b_c-d9'])
        expect(isOwn(each), each).to.equal(false);
    });
  }

  it('of logins in progress are distinguished by login', () => {
    const isOwn = ownCookies({ session: {}, id: 'mine' });
    expect(isOwn(`__Host-login_${loginMark('mine')}_tl1x2y_abcdefgh`)).to.equal(true);
    expect(isOwn(`__Host-login_${loginMark('yours')}_tl1x2y_abcdefgh`)).to.equal(false);
  });

  it('are the same for the gateway, whatever else is configured', () => {
    const isOwn = oidcMethod.hiddenCookies!({
      session: { redis: { cookieName: 'sid' }, cookieOptions: { path: '; bad' } },
    });
    expect([isOwn('sid'), isOwn('other')]).to.deep.equal([true, false]);
  });

  describe('in your own server', () => {
    let world: World;
    const seenBy = async (more: Partial<OidcOptions>): Promise<string[]> => {
      const app = express();
      app.use(session({ secret: 'x', resave: false, saveUninitialized: true }));
      app.use(oidc(world.options(more)));
      app.get('/a', (req, res) => void res.json(req.headers.cookie ?? ''));
      world.site.listen(app);
      const browser = createBrowser();
      await browser.visit(`${world.site.url}/a`);
      const host = new URL(world.site.url).host;
      browser.jar.set('mine', { name: 'mine', value: '1', host, path: '/', ends: Infinity });
      // Left open in another tab.
      await browser.send(`${world.site.url}/b`, { headers: { cookie: 'none=1' } });
      const { body } = await browser.visit(`${world.site.url}/a`);
      return (JSON.parse(body) as string).split('; ').map((each) => each.split('=', 1)[0]!);
    };
    const notSecure = { cookieOptions: { notSecure: true } };
    before(async () => {
      world = await startWorld();
    });
    after(() => world.close());

    for (const [name, more] of Object.entries<Partial<OidcOptions>>({
      'a store': { session: { redis: {}, ...notSecure } },
      'a store of express-session': { session: { ...notSecure, store: new session.MemoryStore() } },
      cookies: { session: notSecure },
      'req.session': { session: 'request' },
    })) {
      it(`are not passed on, and those of the application are: ${name}`, async () => {
        const seen = await seenBy(more);
        expect(seen.filter((each) => each !== 'connect.sid')).to.deep.equal(['mine']);
      });
    }

    it('are passed on with forwardCookies, except those of logins in progress', async () => {
      const seen = await seenBy({ session: { redis: {}, forwardCookies: true, ...notSecure } });
      expect(seen.filter((each) => each !== 'connect.sid').sort()).to.deep.equal(['__session', 'mine']);
    });
  });
});
