import { expect } from 'chai';
import { request as send } from 'node:http';
import { createBrowser } from '../parts/browser.ts';
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

/** A request whose target and host are sent as they are. */
function raw(base: string, path: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(base);
  return new Promise<{ status: number; location: string | undefined; body: string }>((resolve, reject) => {
    const req = send({ hostname, port, path, headers }, (res) => {
      let body = '';
      res.on('data', (chunk: Buffer) => (body += chunk.toString()));
      res.on('end', () => resolve({ status: res.statusCode!, location: res.headers.location, body }));
    });
    req.on('error', reject).end();
  });
}

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

  it('has a hundred spellings to try, for each way in', () => {
    expect(new Set(SPELLINGS).size).to.equal(SPELLINGS.length);
    expect(SPELLINGS.filter(isSendable).length).to.be.at.least(100);
  });

  for (const path of SPELLINGS.filter(isSendable)) {
    it(`login: ${JSON.stringify(path)} leads back to this site`, async () => {
      const browser = createBrowser();
      const first = await raw(world.site.url, path);
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
    it(`login: the host ${JSON.stringify(host)} is no place to go back to`, async () => {
      for (const name of ['host', 'x-forwarded-host', 'forwarded']) {
        const first = await raw(world.site.url, '/a', { [name]: name === 'forwarded' ? `host=${host}` : host });
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
        const answer = await raw(world.site.url, path);
        isOwn(answer.location);
        linksAreOwn(answer.body);
      }
    });
  }

  it('goes back to a path with two slashes at its begin on this site, for a whole login', async () => {
    const browser = createBrowser();
    const first = await raw(world.site.url, '//evil.example/x');
    expect(first.status).to.equal(302);
    const seen = await browser.visit(`${world.site.url}//evil.example/x`);
    expect(new URL(seen.url).origin).to.equal(world.site.url);
  });
});
