import { expect } from 'chai';
import { startBadWorld, type BadWorld } from '../parts/bad-world.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { sendRaw } from '../parts/raw-request.ts';
import { startWorld, type World } from '../parts/world.ts';
import { SPELLINGS } from './redirect-spellings.ts';

const PARAMETERS = [
  'rd',
  'redirect',
  'redirect_uri',
  'return_to',
  'returnTo',
  'next',
  'url',
  'target',
  'state',
  'post_logout_redirect_uri',
];

/** What can stand in a request line at all. */
const isSendable = (path: string): boolean => path.startsWith('/') && /^[\u0021-\u00ff]+$/.test(path);

describe('open redirects', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
    world.protect();
  });
  after(() => world.close());

  const isOwn = (location: string | undefined): void => {
    if (location === undefined) return;
    expect(location).to.match(/^http:\/\/127\.0\.0\.1:\d+\//);
    expect([new URL(world.site.url).origin, world.idp.issuer]).to.include(new URL(location).origin);
  };
  const linksAreOwn = (body: string): void => {
    for (const [, href = ''] of body.matchAll(/(?:href|action)="([^"]*)"/g)) {
      const plain = href.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
      expect(new URL(plain, `${world.site.url}/x`).origin).to.equal(world.site.url);
    }
  };

  it('tries at least a hundred spellings', () => {
    expect(new Set(SPELLINGS).size).to.equal(SPELLINGS.length);
    expect(SPELLINGS.filter(isSendable).length).to.be.at.least(100);
  });

  for (const path of SPELLINGS.filter(isSendable)) {
    it(`login: ${JSON.stringify(path)} leads back to this site`, async () => {
      const browser = createBrowser();
      const first = await sendRaw(world.site.url, path);
      isOwn(first.location);
      if (first.location === undefined) return;
      const state = new URL(first.location).searchParams.get('state');
      const answer = await browser.send(`${world.site.url}/callback?code=x&state=${state}`);
      linksAreOwn(await answer.text());
    });
  }

  for (const host of [
    'evil.example',
    '127.0.0.1.evil.example',
    'evil.example:80',
    'a@evil.example',
    'evil.example/x',
    '',
  ]) {
    it(`login: the host ${JSON.stringify(host)} is not a redirect target`, async () => {
      for (const name of ['host', 'x-forwarded-host', 'forwarded']) {
        const first = await sendRaw(world.site.url, '/a', { [name]: name === 'forwarded' ? `host=${host}` : host });
        isOwn(first.location);
        if (!first.location) continue;
        const state = new URL(first.location).searchParams.get('state');
        const answer = await createBrowser().send(`${world.site.url}/callback?code=x&state=${state}`);
        linksAreOwn(await answer.text());
      }
    });
  }

  for (const value of SPELLINGS) {
    it(`callback and logout: no parameter leads to ${JSON.stringify(value)}`, async () => {
      const query = new URLSearchParams(PARAMETERS.map((name): [string, string] => [name, value]));
      for (const path of [`/callback?code=x&${query}`, `/logout?${query}`, `/a?${query}`, `/channel?${query}`]) {
        const answer = await sendRaw(world.site.url, path);
        isOwn(answer.location);
        linksAreOwn(answer.body);
      }
    });
  }

  it('a whole login returns to a path that starts with two slashes on this site', async () => {
    const browser = createBrowser();
    const first = await sendRaw(world.site.url, '//evil.example/x');
    expect(first.status).to.equal(302);
    const seen = await browser.visit(`${world.site.url}//evil.example/x`);
    expect(new URL(seen.url).origin).to.equal(world.site.url);
  });
});

describe('open redirects in a whole login', () => {
  let world: BadWorld;
  let logged: Browser;
  let finished = 0;
  const own = (): string => new URL(world.site.url).origin;
  before(async () => {
    world = await startBadWorld();
    world.protect({ afterLogoutUrl: '/bye' });
    logged = createBrowser();
    await world.visit(logged);
  });
  after(() => world.close());

  /** Goes from the redirect to the provider through the callback; gives where that leads. */
  async function finish(location: string, cookie: string): Promise<string | undefined> {
    const sent = await fetch(location, { redirect: 'manual' });
    const back = new URL(sent.headers.get('location')!);
    return (await sendRaw(world.site.url, back.pathname + back.search, { cookie })).location;
  }

  for (const path of SPELLINGS.filter(isSendable)) {
    it(`end on this site: ${JSON.stringify(path)}`, async () => {
      const first = await sendRaw(world.site.url, path);
      // What is no request of HTTP ends before any login.
      if (first.status === 400) return;
      expect(first.location, String(first.status)).to.be.a('string');
      const end = await finish(first.location!, first.cookie);
      expect(end, 'the login is finished').to.be.a('string');
      finished++;
      expect(new URL(end!).origin).to.equal(own());
      expect(end)
        .to.match(/^http:\/\/127\.0\.0\.1:\d+\//)
        .and.match(/^[\u0021-\u007e]+$/);
    });
  }

  it('are tried in at least a hundred logins', () => expect(finished).to.be.at.least(100));

  for (const value of SPELLINGS) {
    it(`end on this site with ${JSON.stringify(value)} in every parameter of callback and logout`, async () => {
      const names = PARAMETERS.filter((name) => name !== 'state');
      const query = new URLSearchParams(names.map((name): [string, string] => [name, value]));
      const first = await sendRaw(world.site.url, `/a?${query}`);
      const sent = await fetch(first.location!, { redirect: 'manual' });
      const back = new URL(sent.headers.get('location')!);
      const target = `${back.pathname}${back.search}&${query}`;
      const done = await sendRaw(world.site.url, target, { cookie: first.cookie });
      expect(done.location).to.equal(`${world.site.url}/a?${query}`);
      const cookie = `__session=${logged.cookie('__session')}`;
      const asked = await sendRaw(world.site.url, `/logout?${query}`, { cookie, 'sec-fetch-site': 'cross-site' });
      expect(asked.body).to.match(/href="\/logout\?confirm=[\w-]{43}"/);
      const out = await sendRaw(world.site.url, `/logout?${query}`);
      expect(out.location).to.equal(`${world.site.url}/bye`);
    });
  }
});
