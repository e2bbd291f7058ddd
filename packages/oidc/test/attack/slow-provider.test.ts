import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { until } from '../../../../test/parts/until.ts';
import { createBrowser } from '../parts/browser.ts';
import { startBadWorld, type BadWorld } from '../parts/bad-world.ts';
import { holdCallTimeouts, type CallTimeouts } from '../parts/call-timeouts.ts';

/** Longer than a test may last: who gets an answer did not wait for that of the provider. */
const SLOW_MS = 600_000;

/** A byte at a time, without an end. */
function drip(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'application/json' }).write('{');
  const timer = setInterval(() => res.write(' '), 20);
  res.on('close', () => clearInterval(timer));
}

function slow(res: ServerResponse, answer: () => void): void {
  const timer = setTimeout(answer, SLOW_MS);
  res.on('close', () => clearTimeout(timer));
}

describe('a login at a slow provider', () => {
  const worlds: BadWorld[] = [];
  let timeouts: CallTimeouts;
  /** Calls that the provider does not respond to in time. */
  let slowCalls = 0;
  before(() => (timeouts = holdCallTimeouts()));
  after(() => timeouts.restore());
  const make = async (): Promise<BadWorld> => {
    const world = await startBadWorld();
    worlds.push(world);
    world.protect();
    return world;
  };
  after(() => Promise.all(worlds.map((world) => world.close())));

  /** Responds to calls of a path in a slow way. */
  function slowAt(world: BadWorld, path: string, respond: (res: ServerResponse) => void = drip): void {
    world.idp.intercept = (req, res) => {
      if (!req.url!.startsWith(path)) return false;
      slowCalls++;
      respond(res);
      return true;
    };
  }
  /** Sends requests, and lets the call to the provider that they wait for time out. */
  async function timedOut<T>(send: () => Promise<T>): Promise<T> {
    const before = slowCalls;
    const sent = send();
    await until(() => slowCalls > before, 'the call to the provider');
    timeouts.expire();
    return sent;
  }

  const isTimeoutPage = async (answer: Response): Promise<void> => {
    expect(answer.status).to.equal(504);
    expect(answer.headers.get('retry-after')).to.equal('1');
    expect(answer.headers.getSetCookie(), 'the state is kept').to.deep.equal([]);
    expect(await answer.text()).to.contain('<a href="">Try again</a>');
  };

  const ways: Record<string, (res: ServerResponse) => void> = {
    'answers after ten minutes': (res) => slow(res, () => res.end('{}')),
    'drips a byte at a time': drip,
    'never answers': () => {},
  };
  for (const [name, respond] of Object.entries(ways))
    it(`that ${name} returns a 504 page for the callback, whose link completes the login`, async () => {
      const world = await make();
      const { browser, url } = await world.atCallback('/deep?x=1');
      slowAt(world, '/token', respond);
      await isTimeoutPage(await timedOut(() => browser.send(url)));
      world.idp.reset();
      const again = await browser.visit(url);
      expect([again.status, again.url]).to.deep.equal([200, `${world.site.url}/deep?x=1`]);
    });

  it('that used up the code issues another one for the retry, without an error page', async () => {
    const world = await make();
    const { browser, url } = await world.atCallback('/deep?x=1');
    let used = false;
    world.idp.intercept = (req, res) => {
      if (req.url !== '/token') return false;
      if (!used) {
        slowCalls++;
        return (used = true);
      }
      res.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
      return true;
    };
    await isTimeoutPage(await timedOut(() => browser.send(url)));
    const retried = await browser.send(url);
    expect(retried.status).to.equal(302);
    expect(retried.headers.get('location')).to.equal(`${world.site.url}/deep?x=1`);
    world.idp.reset();
    expect((await browser.visit(`${world.site.url}/deep?x=1`)).status).to.equal(200);
  });

  it('at discovery causes a 504 page at the start of a login', async () => {
    const world = await make();
    slowAt(world, '/.well-known');
    const answer = await timedOut(() => createBrowser().send(`${world.site.url}/a`));
    await isTimeoutPage(answer);
    world.idp.reset();
    world.shift = 2000;
    expect((await world.visit()).status).to.equal(200);
  });

  it('at its key set causes a 504 page whose link starts a new login, because the code is used', async () => {
    const world = await make();
    const { browser, url } = await world.atCallback('/deep?x=1');
    slowAt(world, '/jwks');
    const answer = await timedOut(() => browser.send(url));
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
    slowAt(world, '/token');
    const ask = (): Promise<Response> => browser.send(`${world.site.url}/a`);
    world.stopClock();
    world.shift = 598_500;
    const due = await timedOut(() => Promise.all(Array.from({ length: 5 }, ask)));
    expect(due.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    world.shift = 610_000;
    const ended = await timedOut(ask);
    expect(ended.status).to.equal(503);
    expect(ended.headers.get('retry-after')).to.equal('1');
    world.idp.intercept = undefined;
    world.shift = 620_000;
    expect((await ask()).status).to.equal(200);
  });
});
