import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { acceptUpgrades, createContext, protect, type Handler } from '@edge-gateway/core';
import { graphqlApi } from '@edge-gateway/graphql';
import { oidc } from '@edge-gateway/oidc';
import { forwardTo } from '@edge-gateway/routing';
import { expect } from 'chai';
import session from 'express-session';
import { WebSocket, WebSocketServer } from 'ws';
import { readyClient } from '../../../packages/graphql/test/serve/parts.ts';
import { createBrowser, type Browser } from '../../../packages/oidc/test/parts/browser.ts';
import { startSite, type Site } from '../../../packages/oidc/test/parts/site.ts';
import { startWorld, type World } from '../../../packages/oidc/test/parts/world.ts';

const SIGNING_KEY = 'a signing key that all replicas share';
const CHECK_MS = 30_000;
const API = {
  schemaDefinition: 'type Query { one: Int @resolve(name: "one") }',
  resolutions: { one: { mockResolver: { syncResponse: 1 } } },
} as const;

describe('a WebSocket of a user who logs out in another process', () => {
  let world: World;
  let other: Site;
  const started: (() => unknown)[] = [];
  before(async () => {
    world = await startWorld();
    other = await startSite();
  });
  after(async () => {
    await world.close();
    await other.close();
  });
  afterEach(async () => {
    mock.timers.reset();
    for (const stop of started.splice(0).toReversed()) await stop();
  });

  /** Puts the login in front of two servers, of which the first one has WebSockets. */
  async function start(last: Handler): Promise<string> {
    const own = { cookieOptions: { notSecure: true }, store: new session.MemoryStore() };
    const options = world.options({ session: own, signingKey: SIGNING_KEY });
    const chain = protect(oidc(options, createContext()), last);
    const site = protect(oidc(options, createContext()), (_req, res) => res.end('in'));
    const elsewhere = oidc(options, createContext());
    world.site.use(site);
    other.use(elsewhere);
    const front = createServer((_req, res) => res.writeHead(404).end());
    acceptUpgrades(front, { '/': chain });
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    started.push(
      () => front.close(),
      chain.close,
      site.close,
      () => elsewhere.close?.(),
    );
    return `http://127.0.0.1:${(front.address() as AddressInfo).port}/`;
  }

  async function login(): Promise<{ browser: Browser; cookie: string }> {
    const browser = createBrowser();
    expect((await browser.visit(`${world.site.url}/a`)).status).to.equal(200);
    const { host } = new URL(world.site.url);
    const cookies = [...browser.jar.values()].filter((each) => each.host === host);
    return { browser, cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') };
  }

  async function logout(cookie: string): Promise<void> {
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    expect((await createBrowser().send(`${other.url}/logout`, { headers })).status).to.equal(302);
  }

  it('is closed with 4403 if it is one of a GraphQL API', async () => {
    const url = await start(graphqlApi(API));
    const { cookie } = await login();
    mock.timers.enable({ apis: ['setInterval'] });
    const client = await readyClient(url, { cookie });
    mock.timers.tick(CHECK_MS);
    client.send({ type: 'subscribe', id: '1', payload: { query: '{ one }' } });
    expect((await client.message('next', '1')).payload).to.deep.equal({ data: { one: 1 } });
    await logout(cookie);
    mock.timers.tick(CHECK_MS);
    expect(await client.closed).to.equal(4403);
  });

  it('is closed with 1008 on both sides if it is forwarded', async () => {
    const upstream = createServer();
    const sockets = new WebSocketServer({ server: upstream });
    const atUpstream = new Promise<number>((resolve) =>
      sockets.on('connection', (each) => each.on('message', () => each.send('echo')).once('close', resolve)),
    );
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    started.push(() => upstream.close());
    const target = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const url = await start(forwardTo({ target }));
    const { cookie } = await login();
    mock.timers.enable({ apis: ['setInterval'] });
    const client = new WebSocket(url.replace('http', 'ws'), { headers: { cookie } });
    const closed = new Promise<number>((resolve) => client.once('close', resolve));
    await new Promise((resolve, reject) => client.once('open', resolve).once('error', reject));
    mock.timers.tick(CHECK_MS);
    const echoed = new Promise((resolve) => client.once('message', (data) => resolve(String(data))));
    client.send('hello');
    expect(await echoed).to.equal('echo');
    await logout(cookie);
    mock.timers.tick(CHECK_MS);
    expect(await Promise.all([closed, atUpstream])).to.deep.equal([1008, 1008]);
  });
});
