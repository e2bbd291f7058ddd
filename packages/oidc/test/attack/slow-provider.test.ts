import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { createBrowser } from '../parts/browser.ts';
import { startBadWorld, type BadWorld } from '../parts/bad-world.ts';

/** Longer than a test may last: who gets an answer did not wait for that of the provider. */
const SLOW_MS = 600_000;

/** One byte a second, without an end. */
function drip(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'application/json' }).write('{');
  const timer = setInterval(() => res.write(' '), 1000);
  res.on('close', () => clearInterval(timer));
}

function slow(res: ServerResponse, answer: () => void): void {
  const timer = setTimeout(answer, SLOW_MS);
  res.on('close', () => clearTimeout(timer));
}

describe('a login at a slow provider', () => {
  const worlds: BadWorld[] = [];
  const make = async (): Promise<BadWorld> => {
    const world = await startBadWorld();
    worlds.push(world);
    world.protect();
    return world;
  };
  after(() => Promise.all(worlds.map((world) => world.close())));

  const isTimeoutPage = async (answer: Response): Promise<void> => {
    expect(answer.status).to.equal(504);
    expect(answer.headers.get('retry-after')).to.equal('1');
    expect(answer.headers.getSetCookie(), 'the state is kept').to.deep.equal([]);
    expect(await answer.text()).to.contain('<a href="">Try again</a>');
  };

  // Each waits for five seconds, so they do so together.
  const ways: Record<string, (res: ServerResponse) => void> = {
    'answers after ten minutes': (res) => slow(res, () => res.end('{}')),
    'drips a byte a second': drip,
    'never answers': () => {},
  };
  it('returns a 504 page for the callback, whose link completes the login', async () => {
    const run = async (name: string, way: (res: ServerResponse) => void): Promise<void> => {
      const world = await make();
      const { browser, url } = await world.atCallback('/deep?x=1');
      world.idp.intercept = (req, res) => {
        if (req.url !== '/token') return false;
        way(res);
        return true;
      };
      await isTimeoutPage(await browser.send(url));
      world.idp.reset();
      const again = await browser.visit(url);
      expect(again.status, name).to.equal(200);
      expect(again.url, name).to.equal(`${world.site.url}/deep?x=1`);
    };
    await Promise.all(Object.entries(ways).map(([name, way]) => run(name, way)));
  });

  it('that used up the code issues another one for the retry, without an error page', async () => {
    const world = await make();
    const { browser, url } = await world.atCallback('/deep?x=1');
    let used = false;
    world.idp.intercept = (req, res) => {
      if (req.url !== '/token') return false;
      if (!used) return (used = true);
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    await isTimeoutPage(await browser.send(url));
    const retried = await browser.send(url);
    expect(retried.status).to.equal(302);
    expect(retried.headers.get('location')).to.equal(`${world.site.url}/deep?x=1`);
    world.idp.reset();
    expect((await browser.visit(`${world.site.url}/deep?x=1`)).status).to.equal(200);
  });

  it('at discovery causes a 504 page at the start of a login', async () => {
    const world = await make();
    world.idp.intercept = (req, res) => {
      if (!req.url!.startsWith('/.well-known')) return false;
      drip(res);
      return true;
    };
    const answer = await createBrowser().send(`${world.site.url}/a`);
    await isTimeoutPage(answer);
    world.idp.reset();
    world.shift = 2000;
    expect((await world.visit()).status).to.equal(200);
  });

  it('at its key set causes a 504 page whose link starts a new login, because the code is used', async () => {
    const world = await make();
    const { browser, url } = await world.atCallback('/deep?x=1');
    world.idp.intercept = (req, res) => {
      if (req.url !== '/jwks') return false;
      drip(res);
      return true;
    };
    const answer = await browser.send(url);
    expect(answer.status).to.equal(504);
    expect(await answer.text()).to.contain(`<a href="${world.site.url}/deep?x=1">Try again</a>`);
    world.idp.reset();
    world.shift = 2000;
    expect((await browser.visit(`${world.site.url}/deep?x=1`)).status).to.equal(200);
  });

  it('at a renewal has no effect while tokens are valid, and causes 503 after they expire, not a logout', async () => {
    const world = await make();
    world.idp.token = (answer) => ({ body: { ...answer, refresh_token: 'again', expires_in: 600 } });
    const browser = createBrowser();
    expect((await world.visit(browser)).status).to.equal(200);
    world.idp.intercept = (req, res) => {
      if (req.url !== '/token') return false;
      drip(res);
      return true;
    };
    const ask = (): Promise<Response> => browser.send(`${world.site.url}/a`);
    world.stopClock();
    world.shift = 598_500;
    const due = await Promise.all(Array.from({ length: 5 }, ask));
    expect(due.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    world.shift = 610_000;
    const ended = await ask();
    expect(ended.status).to.equal(503);
    expect(ended.headers.get('retry-after')).to.equal('1');
    world.idp.intercept = undefined;
    world.shift = 620_000;
    expect((await ask()).status).to.equal(200);
  });
});
