import { createRequire } from 'node:module';
import { expect } from 'chai';
import express from 'express';
import session from 'express-session';
import { createContext, createLoggers, GatewayError } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../src/index.ts';
import { createBrowser } from './parts/browser.ts';
import { startWorld } from './parts/world.ts';

const express4 = createRequire(import.meta.url)('express4') as typeof express;

describe('oidc() in your own server', () => {
  for (const [name, make] of [
    ['Express 5', express],
    ['Express 4', express4],
  ] as const) {
    it(`works in ${name}, also in its req.session`, async () => {
      const world = await startWorld();
      try {
        const app = make();
        app.use(session({ secret: 'x', resave: false, saveUninitialized: false }));
        app.get('/cart', (req, res) => {
          (req.session as unknown as { cart: string }).cart = 'full';
          res.send('ok');
        });
        app.use(oidc(world.options({ session: 'request' })));
        app.get('/a', (req, res) => {
          res.json({ email: req.headers['x-email'], cart: (req.session as unknown as { cart: string }).cart });
        });
        world.site.listen(app);
        const browser = createBrowser();
        await browser.visit(`${world.site.url}/cart`);
        const before = browser.cookie('connect.sid');
        const seen = await browser.visit(`${world.site.url}/a`);
        expect(JSON.parse(seen.body)).to.deep.equal({ email: 'admin@example.com', cart: 'full' });
        expect(browser.cookie('connect.sid')).to.not.equal(before);
        await browser.send(`${world.site.url}/logout`);
        expect((await browser.send(`${world.site.url}/a`)).status).to.equal(302);
      } finally {
        await world.close();
      }
    });
  }

  it('keeps the headers of a CORS policy in front of it on a rejection', async () => {
    const world = await startWorld();
    try {
      const app = express();
      app.use((req, res, next) => {
        if (req.headers.origin === 'https://shop.example')
          res.setHeader('access-control-allow-origin', req.headers.origin);
        next();
      });
      app.use(oidc(world.options()));
      world.site.listen(app);
      const allowed = async (origin: string): Promise<string | null> => {
        const headers = { origin, 'sec-fetch-mode': 'cors' };
        const answer = await createBrowser().send(`${world.site.url}/a`, { headers });
        expect(answer.status).to.equal(401);
        return answer.headers.get('access-control-allow-origin');
      };
      expect(await allowed('https://shop.example')).to.equal('https://shop.example');
      expect(await allowed('https://evil.example')).to.equal(null);
    } finally {
      await world.close();
    }
  });

  for (const [mounted, callbackPath, appPath, warns] of [
    ['/office', '/callback', '', true],
    ['/office', '/office/callback', '', false],
    ['/office', '/callback', '/office', false],
    ['/', '/callback', '', false],
  ] as const) {
    it(`${warns ? 'warns once' : 'does not warn'} if mounted at ${mounted} with the callback ${appPath}${callbackPath}`, async () => {
      const world = await startWorld();
      try {
        const lines: Record<string, unknown>[] = [];
        const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
        const app = express();
        const more = { callbackPath, appUrl: world.site.url + appPath };
        app.use(mounted, oidc(world.options(more), createContext({ log: createLoggers({ destination }) })));
        world.site.listen(app);
        for (let i = 0; i < 2; i++)
          expect((await createBrowser().send(`${world.site.url}${mounted}`)).status).to.equal(302);
        const warnings = lines.filter(({ msg }) => String(msg).includes('is mounted'));
        expect(warnings.length).to.equal(warns ? 1 : 0);
        if (warns) expect(warnings[0]).to.include({ mounted: '/office', callback: '/callback' });
      } finally {
        await world.close();
      }
    });
  }

  it('accepts a provider with a private http URL with a warning, and no public one', () => {
    const lines: string[] = [];
    const context = createContext({ log: createLoggers({ destination: { write: (line) => void lines.push(line) } }) });
    const options = { clientId: 'a', clientSecret: 'b', appUrl: 'https://app.example', callbackPath: '/callback' };
    for (const issuerUrl of ['http://dex.gw-system.svc.cluster.local:32000/', 'http://dex:5556', 'http://10.1.2.3/'])
      oidc({ ...options, issuerUrl }, context);
    expect(lines.filter((line) => line.includes('unencrypted')).length).to.equal(3);
    expect(() => oidc({ ...options, issuerUrl: 'http://id.example.com' }, context)).to.throw(
      'issuerUrl must use https',
    );
  });

  describe('in req.session', () => {
    const startShop = async () => {
      const world = await startWorld();
      const app = express();
      app.use(session({ secret: 'x', resave: false, saveUninitialized: false }));
      app.use(oidc(world.options({ session: 'request' })));
      const dataOf = (req: express.Request) => req.session as unknown as Record<string, unknown>;
      app.get('/put', (req, res) => void res.json((dataOf(req).role = req.headers['x-email'])));
      app.get('/a', (req, res) => void res.json({ role: dataOf(req).role, email: req.headers['x-email'] }));
      world.site.listen(app);
      return world;
    };
    const logInAs = async (site: string, name: string, from?: ReturnType<typeof createBrowser>) => {
      const browser = createBrowser(name);
      const own = [...(from?.jar ?? [])].filter(([, { name: cookie }]) => cookie === 'connect.sid');
      for (const [key, cookie] of own) browser.jar.set(key, cookie);
      return { browser, body: JSON.parse((await browser.visit(`${site}/a`)).body) as Record<string, unknown> };
    };

    it('a logout removes everything of the old user', async () => {
      const world = await startShop();
      try {
        const { browser } = await logInAs(world.site.url, 'admin@example.com');
        await browser.send(`${world.site.url}/put`);
        await browser.send(`${world.site.url}/logout`);
        const { body } = await logInAs(world.site.url, 'user@example.com', browser);
        expect(body).to.deep.equal({ email: 'user@example.com' });
      } finally {
        await world.close();
      }
    });

    it('a login of another user removes everything, and one of the same user keeps it', async () => {
      const world = await startShop();
      try {
        const { browser } = await logInAs(world.site.url, 'admin@example.com');
        await browser.send(`${world.site.url}/put`);
        // Another login of the same browser, in a tab that was left open on the provider's page.
        const logInAgain = async (name: string, from: ReturnType<typeof createBrowser>) => {
          const tab = createBrowser(name);
          const { url } = await tab.visit(`${world.site.url}/a`, { stopAt: (at) => at.includes('/callback?') });
          for (const [key, cookie] of from.jar) if (cookie.name === 'connect.sid') tab.jar.set(key, cookie);
          return { tab, body: JSON.parse((await tab.visit(url)).body) as Record<string, unknown> };
        };
        const same = await logInAgain('admin@example.com', browser);
        expect(same.body).to.deep.equal({ role: 'admin@example.com', email: 'admin@example.com' });
        const other = await logInAgain('user@example.com', same.tab);
        expect(other.body).to.deep.equal({ email: 'user@example.com' });
      } finally {
        await world.close();
      }
    });
  });

  it('works in plain node:http, with any express-session store', async () => {
    const world = await startWorld();
    try {
      const store = new session.MemoryStore();
      world.protect({ session: { store, cookieName: 'mine', cookieOptions: { notSecure: true } } });
      const browser = createBrowser();
      const seen = await browser.visit(`${world.site.url}/a`);
      expect(seen.status).to.equal(200);
      const kept = JSON.stringify((store as unknown as { sessions: object }).sessions);
      expect(kept).to.contain('sealed');
      expect(kept).to.not.contain(browser.cookie('mine')!);
    } finally {
      await world.close();
    }
  });

  for (const onRefusal of ['respond', 'next'] as const) {
    it(`sends redirects itself, and ${onRefusal === 'next' ? 'passes refusals to next(error)' : 'refusals, too'}`, async () => {
      const world = await startWorld();
      const handler = oidc({ ...world.options(), onRefusal });
      try {
        const passed: unknown[] = [];
        world.site.listen((req, res) => {
          handler(req, res, (error) => {
            passed.push(error);
            res.writeHead(418).end();
          });
        });
        const ask = (path: string, mode: string): Promise<Response> =>
          createBrowser().send(world.site.url + path, { headers: { 'sec-fetch-mode': mode } });
        const redirected = await ask('/a', 'navigate');
        expect([redirected.status, passed]).to.deep.equal([302, []]);
        expect(redirected.headers.getSetCookie()).to.not.have.length(0);
        const script = await ask('/a', 'cors');
        const callback = await ask('/callback?code=x&state=y', 'navigate');
        if (onRefusal === 'respond') {
          expect([script.status, passed]).to.deep.equal([401, []]);
          expect(script.headers.get('www-authenticate')).to.equal('Bearer');
          expect(await script.json()).to.include({ code: 'ERR_OIDC_LOGIN_REQUIRED' });
          expect(await callback.text()).to.match(/^<!doctype html>/i);
        } else {
          expect(passed).to.have.length(2);
          expect(passed[0]).to.deep.include({ code: 'ERR_OIDC_LOGIN_REQUIRED', status: 401, statusCode: 401 });
          expect((passed[0] as GatewayError).headers).to.include({ 'www-authenticate': 'Bearer' });
          expect(passed[1]).to.include({ code: 'ERR_OIDC_LOGIN_FAILED' });
          expect(String((passed[0] as GatewayError).message)).to.equal('Unauthorized');
        }
      } finally {
        await handler.close?.();
        await world.close();
      }
    });
  }

  it('throws for invalid options, and makes no network call', () => {
    const good = { issuerUrl: 'https://idp.example', clientId: 'a', clientSecret: 'b', appUrl: 'https://a.example' };
    const bad: Record<string, OidcOptions> = {
      'issuer over http': { ...good, callbackPath: '/cb', issuerUrl: 'http://idp.example' },
      'an overridden end-session endpoint over http': {
        ...good,
        callbackPath: '/cb',
        discoveryOverride: { endSessionEndpoint: 'http://idp.example/end' },
      },
      'a session cookie that browsers do not keep': {
        ...good,
        callbackPath: '/cb',
        session: { redis: { cookieName: '__Host-sid' }, cookieOptions: { domain: 'a.example' } },
      },
      'an invalid name of the session cookie': {
        ...good,
        callbackPath: '/cb',
        session: { redis: { cookieName: 'a; b' } },
      },
      'a signing key of 31 bytes': { ...good, callbackPath: '/cb', signingKey: 'x'.repeat(31) },
      'an empty signing key': { ...good, callbackPath: '/cb', signingKey: '' },
      'callback without slash': { ...good, callbackPath: 'cb' },
      'no callback': good,
      'appUrl that is a script': { ...good, callbackPath: '/cb', appUrl: 'javascript:alert(1)' },
      'logout at the callback': { ...good, callbackPath: '/cb', logoutPath: '/cb' },
      'no client authentication': { ...good, callbackPath: '/cb', clientSecret: undefined },
      'a missing secret': { ...good, callbackPath: '/cb', clientSecret: undefined, clientSecretRef: { name: 'x' } },
      'a callback expression that does not match itself': {
        ...good,
        callbackPath: '/cb/[a-z]+',
        parseCallbackPathAsRegex: true,
      },
      'a store that is none': { ...good, callbackPath: '/cb', session: { store: {} as never } },
      'a store beside Redis': {
        ...good,
        callbackPath: '/cb',
        session: { store: new session.MemoryStore(), redis: {} },
      },
      'a cookie name without a store': { ...good, callbackPath: '/cb', session: { cookieName: 'x' } },
      'SameSite=None without Secure': {
        ...good,
        callbackPath: '/cb',
        session: { cookieOptions: { sameSite: 'NoneMode', notSecure: true } },
      },
    };
    for (const [name, options] of Object.entries(bad)) {
      expect(() => oidc(options), name)
        .to.throw(GatewayError, /^oidc: (?!oidc)/)
        .with.property('code')
        .match(/^ERR_OIDC_(CONFIG|SECRET)$/);
    }
  });

  it('accepts a remote provider over http only with allowHttp', () => {
    const options = { issuerUrl: 'http://idp.internal', clientId: 'a', clientSecret: 'b', appUrl: 'https://a.example' };
    expect(() => oidc({ ...options, callbackPath: '/cb' })).to.throw(/issuerUrl must use https.*allowHttp/);
    expect(oidc({ ...options, callbackPath: '/cb', allowHttp: true })).to.be.a('function');
  });

  it('states the minimum length of a signing key, and never shows it', () => {
    const options = { issuerUrl: 'https://idp.example', clientId: 'a', clientSecret: 'b', appUrl: 'https://a.example' };
    const make = (signingKey: string) => () => oidc({ ...options, callbackPath: '/cb', signingKey });
    expect(make('changeit')).to.throw(/^oidc: signingKey has 8 bytes: use at least 32 .*openssl rand -base64 32/);
    expect(make('x'.repeat(32))()).to.be.a('function');
    expect(make('ü'.repeat(16))(), 'bytes count').to.be.a('function');
  });
});
