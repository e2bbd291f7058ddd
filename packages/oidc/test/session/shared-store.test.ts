import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import express from 'express';
import session, { type SessionData, type Store } from 'express-session';
import { createContext } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { createStoreStorage } from '../../src/session/store-storage.ts';
import { createStoreEntries, createStoreIds } from '../../src/session/store-entries.ts';
import { createStoreLock } from '../../src/session/store-lock.ts';
import { createLogoutMarks } from '../../src/session/logout-marks.ts';
import { startBadProvider, type BadProvider } from '../parts/bad-provider.ts';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { createFileStore } from '../parts/file-store.ts';
import { startSite, type Site } from '../parts/site.ts';
import { startNode, type RunningNode } from '../parts/start-node.ts';
import { startWorld } from '../parts/world.ts';
import { requestWith, sessionOf, sessionStoreContract } from './storage-contract.ts';

const SIGNING_KEY = 'a-signing-key-of-more-than-thirty-two-characters';
const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const ATTRIBUTES = {
  maxAgeSeconds: 3600,
  secure: true,
  httpOnly: true,
  path: '/',
  sameSite: 'Lax',
  domain: undefined,
} as const;
const plain = { cookieOptions: { notSecure: true } };

sessionStoreContract('a store of a program, from two processes', async () => {
  const store = new session.MemoryStore();
  const [storage, other] = [1, 2].map(() => {
    const entries = createStoreEntries(store, Date.now);
    return createStoreStorage({
      store,
      lock: createStoreLock(entries),
      marks: createLogoutMarks(entries, 3_600_000),
      usedIds: createStoreIds(entries, 600_000),
      cookieName: '__session',
      attributes: ATTRIBUTES,
      client: 'a client',
      now: Date.now,
    });
  });
  return { storage: storage!, other: other!, close: async () => {} };
});

/** A provider whose first tokens have expired at once, and whose refresh tokens are valid once: a second use revokes all of them. */
async function startOneTimeProvider(): Promise<BadProvider> {
  const idp = await startBadProvider();
  let next = 0;
  let revoked = false;
  idp.token = (answer) => {
    const given = idp.tokenRequest.get('refresh_token');
    revoked ||= given !== null && given !== `refresh-${next}`;
    if (revoked) return { status: 400, body: { error: 'invalid_grant' } };
    return { body: { ...answer, refresh_token: `refresh-${++next}`, expires_in: given === null ? 0 : 600 } };
  };
  return idp;
}

const optionsOf = (idp: BadProvider, site: Site): OidcOptions => ({
  issuerUrl: idp.issuer,
  clientId: 'web',
  clientSecret: SIGNING_KEY,
  appUrl: site.url,
  callbackPath: '/callback',
  frontChannelLogout: { path: '/channel' },
  session: plain,
});

/** Logs in, and returns the cookie of the session, whose tokens have expired. */
async function expiredSession(site: Site, name: string): Promise<string> {
  const browser = createBrowser();
  const { url } = await browser.visit(`${site.url}/a`, { stopAt: (each) => each.includes('/callback?') });
  expect((await browser.send(url)).status).to.equal(302);
  return `${name}=${browser.cookie(name)}`;
}

const ask = (url: string, cookie: string): Promise<Response> =>
  createBrowser().send(`${url}/a`, { headers: { cookie } });

describe('a store of a program, at real processes', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sessions-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));
  const handleOf = (browser: Browser): string => `__session=${browser.cookie('__session')}`;
  it('renews expired tokens once, and never logs the user out', async () => {
    const idp = await startOneTimeProvider();
    const site = await startSite();
    const own = optionsOf(idp, site);
    const nodes = await Promise.all([startNode(own, directory), startNode(own, directory)]);
    try {
      site.use(oidc({ ...own, session: { ...plain, store: createFileStore(directory) } }));
      const cookie = await expiredSession(site, '__session');
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(nodes[i % 2]!.url, cookie)));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      expect(idp.tokenCalls, 'a login and a renewal').to.equal(2);
    } finally {
      await Promise.all(nodes.map((node) => node.kill()));
      await idp.close();
      await site.close();
    }
  });

  describe('after a back-channel logout', () => {
    let idp: BadProvider;
    let site: Site;
    let nodes: readonly RunningNode[] = [];
    let serial = 0;
    beforeEach(async () => {
      [idp, site] = await Promise.all([startBadProvider(), startSite()]);
      const own = optionsOf(idp, site);
      nodes = await Promise.all([startNode(own, directory), startNode(own, directory)]);
      site.use(oidc({ ...own, session: { ...plain, store: createFileStore(directory) } }));
    });
    afterEach(async () => {
      await Promise.all(nodes.map((node) => node.kill()));
      await idp.close();
      await site.close();
    });
    const login = async (sub: string, sid: string): Promise<string> => {
      idp.claims = (claims) => ({ ...claims, sub, sid });
      const browser = createBrowser();
      expect((await browser.visit(`${site.url}/a`)).status).to.equal(200);
      return handleOf(browser);
    };
    const tokenOf = (claims: object): Promise<string> => {
      const now = Math.floor(Date.now() / 1000);
      const times = { iat: now, exp: now + 60, jti: `token-${serial++}` };
      return idp.sign({ iss: idp.issuer, aud: 'web', events: EVENTS, ...times, ...claims });
    };
    const send = async (node: number, token: string): Promise<number> => {
      const body = new URLSearchParams({ logout_token: token });
      return (await createBrowser().send(`${nodes[node]!.url}/channel`, { method: 'POST', body })).status;
    };
    const statuses = async (cookie: string): Promise<number[]> => {
      const answers = await Promise.all([...nodes, site].map(({ url }) => ask(url, cookie)));
      return answers.map(({ status }) => status);
    };

    it('has ended the sessions at all processes, and no others', async () => {
      const [one, two, three] = [await login('a', '1'), await login('a', '2'), await login('b', '3')];
      expect(await send(0, await tokenOf({ sub: 'a', sid: '1' }))).to.equal(200);
      expect([await statuses(one), await statuses(two)]).to.deep.equal([
        [302, 302, 302],
        [200, 200, 200],
      ]);
      expect(await send(1, await tokenOf({ sub: 'a' }))).to.equal(200);
      expect([await statuses(two), await statuses(three)]).to.deep.equal([
        [302, 302, 302],
        [200, 200, 200],
      ]);
      const again = await login('a', '1');
      expect(await statuses(again)).to.deep.equal([200, 200, 200]);
    });

    it('accepts its token once, also if both receive it at the same time', async () => {
      const token = await tokenOf({ sub: 'a' });
      const all = await Promise.all([0, 1, 0, 1].map((node) => send(node, token)));
      expect(all.toSorted()).to.deep.equal([200, 400, 400, 400]);
      expect(await send(1, token)).to.equal(400);
    });
  });
});

describe('req.session in one store at two instances', () => {
  it('is renewed once, and the other instance gets the new tokens', async () => {
    const idp = await startOneTimeProvider();
    const sites = [await startSite(), await startSite()] as const;
    const store = new session.MemoryStore();
    try {
      for (const site of sites) {
        const app = express();
        app.use(session({ secret: 'x', resave: false, saveUninitialized: false, store }));
        app.use(oidc({ ...optionsOf(idp, sites[0]), session: 'request' }, createContext()));
        app.get('/a', (_req, res) => void res.send('ok'));
        site.listen(app);
      }
      const cookie = await expiredSession(sites[0], 'connect.sid');
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(sites[i % 2]!.url, cookie)));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      expect(idp.tokenCalls, 'a login and a renewal').to.equal(2);
    } finally {
      await idp.close();
      for (const site of sites) await site.close();
    }
  });
});

describe('the lock of a process whose clock is ahead', () => {
  const ahead = (): number => Date.now() + 3_600_000;

  it('expires once the process is dead', async () => {
    const store = new session.MemoryStore();
    await createStoreEntries(store, ahead).write('lock a', 'of a dead process', 300);
    const release = await createStoreLock(createStoreEntries(store, Date.now), 300).acquire('a', 5000);
    expect(release).to.be.a('function');
    await release!();
  });

  it('is held as long as the process extends it', async () => {
    const store = new session.MemoryStore();
    const release = await createStoreLock(createStoreEntries(store, ahead), 300).acquire('a', 0);
    const other = createStoreLock(createStoreEntries(store, Date.now), 900);
    expect(await other.acquire('a', 1500)).to.equal(undefined);
    await release!();
    const next = await other.acquire('a', 1500);
    expect(next).to.be.a('function');
    await next!();
  });
});

describe('a session in a store that never removes anything', () => {
  it('expires', async () => {
    let now = Date.now();
    const kept = new Map<string, SessionData>();
    const store = {
      get: (id: string, done: (error: unknown, data?: SessionData) => void) => done(undefined, kept.get(id)),
      set(id: string, data: SessionData, done: () => void) {
        kept.set(id, data);
        done();
      },
      destroy: (_id: string, done: () => void) => done(),
    } as unknown as Store;
    const entries = createStoreEntries(store, () => now);
    const storage = createStoreStorage({
      store,
      lock: createStoreLock(entries),
      usedIds: createStoreIds(entries, 600_000),
      cookieName: '__session',
      attributes: ATTRIBUTES,
      client: 'a client',
      now: () => now,
    });
    const [cookie] = await storage.create(requestWith(), sessionOf('a', '1'));
    const request = requestWith(cookie!.split(';')[0]!);
    expect(await storage.load(request)).to.not.equal(undefined);
    now += 3_601_000;
    expect(await storage.load(request)).to.equal(undefined);
  });
});

describe('a store that never answers', () => {
  it('returns 503 within about a second', async () => {
    const world = await startWorld();
    try {
      const silent = { get: () => {}, set: () => {}, destroy: () => {} } as unknown as Store;
      world.protect({ session: { ...plain, failOnFetchFailure: true, store: silent } });
      const startedAt = performance.now();
      const answer = await ask(world.site.url, `__session=${'A'.repeat(43)}`);
      expect(answer.status).to.equal(503);
      expect(answer.headers.get('retry-after')).to.equal('1');
      expect(performance.now() - startedAt).to.be.within(900, 5000);
    } finally {
      await world.close();
    }
  });
});
