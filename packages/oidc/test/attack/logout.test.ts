import { expect } from 'chai';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { useBadWorld } from '../parts/bad-world.ts';

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };

describe('attacks on a logout', () => {
  const world = useBadWorld();
  const seconds = (): number => Math.floor(Date.now() / 1000);
  const statusOf = async (browser: Browser, path = '/a'): Promise<number> =>
    (await browser.send(`${world.site.url}${path}`)).status;
  beforeEach(() => world.protect());

  describe('back-channel logout', () => {
    const channel = { frontChannelLogout: { path: '/channel' } };
    const login = async (sid: string): Promise<Browser> => {
      world.idp.claims = (claims) => ({ ...claims, sid });
      const browser = createBrowser();
      await world.visit(browser);
      return browser;
    };
    let serial = 0;
    const send = async (claims: object): Promise<number> => {
      const now = seconds();
      const common = {
        iss: world.idp.issuer,
        aud: 'web',
        iat: now,
        exp: now + 60,
        jti: `t${serial++}`,
        events: EVENTS,
      };
      const body = new URLSearchParams({ logout_token: await world.idp.sign({ ...common, ...claims }) });
      return (await createBrowser().send(`${world.site.url}/channel`, { method: 'POST', body })).status;
    };

    it('ends all sessions of a subject, or only the named session', async () => {
      world.protect(channel);
      const [one, two, three] = [await login('1'), await login('2'), await login('3')];
      expect(await send({ sub: 'someone', sid: '1' })).to.equal(200);
      expect([await statusOf(one), await statusOf(two), await statusOf(three)]).to.deep.equal([302, 200, 200]);
      expect(await send({ sub: 'another' })).to.equal(200);
      expect([await statusOf(two), await statusOf(three)]).to.deep.equal([200, 200]);
      expect(await send({ sub: 'someone' })).to.equal(200);
      expect([await statusOf(two), await statusOf(three)]).to.deep.equal([302, 302]);
    });

    it('accepts a token that is issued as of five minutes ago, also without an expiry and with a nonce of null', async () => {
      world.protect(channel);
      for (const claims of [{}, { exp: undefined }, { nonce: null }]) {
        const browser = await login('1');
        expect(await send({ sub: 'someone', iat: seconds() - 300, ...claims })).to.equal(200);
        expect(await statusOf(browser)).to.equal(302);
      }
    });

    for (const [name, claims] of Object.entries({
      'neither subject nor session': {},
      'a nonce': { sub: 'someone', nonce: 'n' },
      'another event': { sub: 'someone', events: { 'https://evil.example': {} } },
      'no events': { sub: 'someone', events: undefined },
      'events as text': { sub: 'someone', events: Object.keys(EVENTS)[0] },
      'another audience': { sub: 'someone', aud: 'other' },
      'another issuer': { sub: 'someone', iss: 'https://other.example' },
      'no id': { sub: 'someone', jti: undefined },
      'an age of eleven minutes': { sub: 'someone', iat: Math.floor(Date.now() / 1000) - 661 },
    })) {
      it(`is rejected with ${name}`, async () => {
        world.protect(channel);
        const browser = await login('1');
        expect(await send(claims)).to.equal(400);
        expect(await statusOf(browser)).to.equal(200);
      });
    }
  });

  describe('logout CSRF without Sec-Fetch-Site, as over plain http', () => {
    const send = (browser: Browser, path: string, headers: Record<string, string> = {}, method = 'GET') => {
      const own = [...browser.jar.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
      return fetch(world.site.url + path, {
        method,
        redirect: 'manual',
        headers: { cookie: own, accept: 'text/html', ...headers },
      });
    };
    const loggedIn = async (): Promise<Browser> => {
      const browser = createBrowser();
      await world.visit(browser);
      return browser;
    };
    const bySite: Record<string, (url: string) => Record<string, string>> = {
      'nothing that names the page': () => ({}),
      'the page of another site': () => ({ referer: 'https://evil.example/a' }),
      'a page of another port': (url) => ({ referer: `http://${new URL(url).hostname}:1/` }),
      'the opaque origin': () => ({ origin: 'null' }),
      'another origin': () => ({ origin: 'https://evil.example' }),
    };
    for (const [name, headersOf] of Object.entries(bySite)) {
      it(`a page asks first: ${name}`, async () => {
        const browser = await loggedIn();
        const answer = await send(browser, '/logout?switch_account=/b', headersOf(world.site.url));
        expect(answer.status).to.equal(403);
        expect(await statusOf(browser)).to.equal(200);
        const link = /href="([^"]*confirm=[^"]*)"/.exec(await answer.text())![1]!.replaceAll('&#38;', '&');
        const other = await loggedIn();
        expect((await send(other, link)).status, 'the confirmation of another session').to.equal(403);
        expect((await send(browser, link)).status).to.equal(302);
        expect(await statusOf(browser)).to.equal(302);
      });
    }

    it('a page asks first although a sibling host added the cookie of a session whose confirmation it knows', async () => {
      const [browser, attacker] = [await loggedIn(), await loggedIn()];
      const asked = await send(attacker, '/logout');
      const link = /href="([^"]*confirm=[^"]*)"/.exec(await asked.text())![1]!;
      const cookie = [attacker, browser].map((each) => `__session=${each.cookie('__session')}`).join('; ');
      expect((await send(browser, link, { cookie })).status).to.equal(403);
      expect(await statusOf(browser)).to.equal(200);
      expect((await send(attacker, link)).status, 'the confirmation of its own session').to.equal(302);
    });

    it('logs out for a page of the site, and for a POST of a program', async () => {
      const [one, two, three] = [await loggedIn(), await loggedIn(), await loggedIn()];
      expect((await send(one, '/logout', { referer: `${world.site.url}/a` })).status).to.equal(302);
      expect((await send(two, '/logout', { origin: world.site.url }, 'POST')).status).to.equal(302);
      expect((await send(three, '/logout', {}, 'POST')).status).to.equal(302);
      for (const browser of [one, two, three]) expect(await statusOf(browser)).to.equal(302);
    });
  });

  describe('logout CSRF', () => {
    for (const [name, headers] of Object.entries({
      'a link of another site': { 'sec-fetch-site': 'cross-site' },
      'a sibling host': { 'sec-fetch-site': 'same-site' },
      'an unknown site': { 'sec-fetch-site': 'cross-site, none' },
      'an image': { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' },
    })) {
      it(`logs nobody out: ${name}`, async () => {
        const browser = createBrowser();
        await world.visit(browser);
        expect((await browser.send(`${world.site.url}/logout`, { headers })).status).to.equal(403);
        expect(await statusOf(browser)).to.equal(200);
      });
    }
  });
});
