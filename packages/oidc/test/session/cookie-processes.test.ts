import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { createContext } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { startNode } from '../parts/start-node.ts';
import { startSite, type Site } from '../parts/site.ts';
import { startWorld, type World } from '../parts/world.ts';

interface Echo {
  readonly headers: Record<string, string>;
}

/** Two servers with nothing in common but the keys: each has a context of its own, as two processes have. */
describe('tokens in cookies at two servers, with a refresh token that works once', () => {
  let world: World;
  let other: Site;
  let shift = 0;
  const realNow = Date.now;
  const SIGNING_KEY = 'a signing key that all replicas share';
  const session = { cookieOptions: { notSecure: true }, cookie: { allowRefreshing: true } };
  const options = (): OidcOptions => world.options({ session, signingKey: SIGNING_KEY });
  before(async () => {
    world = await startWorld({ times: { accessTokenSeconds: 600, idTokenSeconds: 600 } });
    other = await startSite();
  });
  after(async () => {
    Date.now = realNow;
    await world.close();
    await other.close();
  });
  beforeEach(() => {
    shift = 0;
    // It stands still but for the shifts.
    const start = realNow();
    Date.now = () => start + shift;
    world.idp.intercept = undefined;
    for (const site of [world.site, other]) site.use(oidc(options(), createContext({ now: () => Date.now() })));
  });

  const login = async (): Promise<Browser> => {
    const browser = createBrowser();
    await browser.visit(`${world.site.url}/a`);
    return browser;
  };
  const cookiesOf = (browser: Browser, { site } = world): string =>
    [...browser.jar.values()]
      .filter(
        ({ name, host }) => /^(?:(?:id|access|refresh)_token|token_mac)/.test(name) && host === new URL(site.url).host,
      )
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  /** The same browser, as the other server sees it. */
  const atOther = (cookie: string, headers: Record<string, string> = {}): Promise<Response> =>
    createBrowser().send(`${other.url}/a`, { headers: { cookie, ...headers } });
  const refuse = (res: ServerResponse): true => {
    res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
    return true;
  };

  it('the second renewal is served while its tokens are valid, and keeps its cookies', async () => {
    const browser = await login();
    const before = cookiesOf(browser);
    shift = 598_500;
    expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
    expect(cookiesOf(browser), 'renewed').to.not.equal(before);
    const second = await atOther(before);
    expect(second.status).to.equal(200);
    expect(((await second.json()) as Echo).headers['x-email']).to.equal('admin@example.com');
    expect(second.headers.getSetCookie()).to.deep.equal([]);
  });

  it('the second renewal after their expiry requires one login, and keeps its cookies', async () => {
    const browser = await login();
    const before = cookiesOf(browser);
    shift = 661_000;
    expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
    const second = await atOther(before);
    expect(second.status).to.equal(302);
    expect(second.headers.get('location')).to.match(new RegExp(`^${world.idp.issuer}/auth\\?`));
    expect(
      second.headers.getSetCookie().filter((each) => /^(?:(?:id|access|refresh)_token|token_mac)/.test(each)),
    ).to.deep.equal([]);
    const script = await atOther(before, { 'sec-fetch-mode': 'cors' });
    expect(script.status).to.equal(401);
    expect(((await script.json()) as { code: string }).code).to.equal('ERR_OIDC_LOGIN_REQUIRED');
    const again = await browser.visit(`${world.site.url}/a`);
    expect(again.status, 'what the first renewed, or a login without a question').to.equal(200);
  });

  it('40 concurrent requests at both never get a 500', async () => {
    const browser = await login();
    const cookie = cookiesOf(browser);
    for (const [at, expected] of [
      [598_500, [200]],
      [661_000, [200, 302]],
    ] as const) {
      shift = at;
      const sent = Array.from({ length: 40 }, (_, i) =>
        i % 2 === 0 ? atOther(cookie) : createBrowser().send(`${world.site.url}/a`, { headers: { cookie } }),
      );
      for (const { status } of await Promise.all(sent)) expect(expected as readonly number[]).to.include(status);
    }
    expect((await browser.visit(`${world.site.url}/a`)).status).to.equal(200);
  });

  it('requests at two real processes never get a 500', async () => {
    Date.now = realNow;
    const short = await startWorld({ times: { accessTokenSeconds: 300, idTokenSeconds: 300 } });
    const own = short.options({ session, signingKey: SIGNING_KEY });
    const nodes = await Promise.all([startNode(own), startNode(own)]);
    try {
      short.site.use(oidc(own));
      const browser = createBrowser();
      await browser.visit(`${short.site.url}/a`);
      // A browser drops the cookie of the access token when that ends.
      const cookie = (cookiesOf(browser, short) + ';').replace(/access_token=[^;]*;/, '');
      const ask = (i: number): Promise<Response> =>
        createBrowser().send(`${nodes[i % 2]!.url}/a`, { headers: { cookie } });
      const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200).length).to.be.greaterThan(0);
      for (const status of statuses) expect([200, 302]).to.include(status);
      expect(short.idp.tokenCalls.length - 1, 'once for each process').to.be.within(1, 2);
    } finally {
      await Promise.all(nodes.map((node) => node.kill()));
      await short.close();
    }
  });

  it('the provider is not called for each request whose refresh token was rejected', async () => {
    const browser = await login();
    shift = 598_500;
    world.idp.intercept = (req, res) => req.url === '/token' && refuse(res);
    const calls = world.idp.tokenCalls.length;
    for (let i = 0; i < 20; i++) expect((await browser.send(`${world.site.url}/a`)).status).to.equal(200);
    expect(world.idp.tokenCalls.length - calls).to.be.at.most(2);
  });
});
