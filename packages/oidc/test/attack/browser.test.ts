import { expect } from 'chai';
import { createContext } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { createBrowser } from '../parts/browser.ts';
import { startWorld, type World } from '../parts/world.ts';

interface Echo {
  readonly headers: Record<string, string>;
}

describe('a login in a browser', () => {
  let world: World;
  const home = (path = '/a'): string => `${world.site.url}${path}`;
  const isCallback = (url: string): boolean => url.includes('/callback?');
  const protect = (more: Partial<OidcOptions> = {}): void => void world.protect(more);
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());
  beforeEach(() => protect());

  it('works in ten tabs at once', async () => {
    const browser = createBrowser();
    const starts = await Promise.all(Array.from({ length: 10 }, (_, i) => browser.send(home(`/tab${i}`))));
    for (const [i, start] of starts.entries()) {
      const seen = await browser.visit(start.headers.get('location')!);
      expect(seen.url, seen.body).to.equal(home(`/tab${i}`));
      expect(seen.status).to.equal(200);
    }
  });

  it('keeps at most twenty logins in progress in a browser', async () => {
    const browser = createBrowser();
    for (let i = 0; i < 30; i++) await browser.send(home());
    const names = [...browser.jar.values()].filter(({ name }) => name.startsWith('login_'));
    expect(names.length).to.be.at.most(20);
  });

  it('returns a page with a link to start again for a replayed callback', async () => {
    const browser = createBrowser();
    const { url } = await browser.visit(home('/deep?x=1'), { stopAt: isCallback });
    expect((await browser.visit(url)).status).to.equal(200);
    for (const again of [browser, createBrowser()]) {
      const answer = await again.send(url);
      expect(answer.status).to.equal(400);
      expect(answer.headers.get('content-type')).to.match(/html/);
      expect(await answer.text()).to.contain(`href="${home('/deep?x=1')}"`);
    }
  });

  it('accepts one of two concurrent callbacks', async () => {
    const browser = createBrowser();
    const { url } = await browser.visit(home(), { stopAt: isCallback });
    const answers = await Promise.all([browser.send(url), browser.send(url)]);
    expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([302, 400]);
  });

  it('rejects a callback in another browser: login CSRF and code injection', async () => {
    const attacker = createBrowser();
    const { url } = await attacker.visit(home(), { stopAt: isCallback });
    const victim = createBrowser();
    await victim.send(home());
    const answer = await victim.send(url);
    expect(answer.status).to.equal(400);
    expect(victim.cookie('__session')).to.equal(undefined);
    const own = new URL((await victim.send(home())).headers.get('location')!).searchParams.get('state')!;
    const injected = new URL(url);
    injected.searchParams.set('state', own);
    expect((await victim.send(injected.href)).status).to.equal(400);
  });

  it('rejects a callback with another secret, before calling the provider', async () => {
    const browser = createBrowser();
    const { url } = await browser.visit(home(), { stopAt: isCallback });
    for (const [key, cookie] of browser.jar)
      if (cookie.name.startsWith('login_')) browser.jar.set(key, { ...cookie, value: 'A'.repeat(43) });
    const calls = world.idp.tokenCalls.length;
    expect((await browser.send(url)).status).to.equal(400);
    expect(world.idp.tokenCalls.length).to.equal(calls);
  });

  it('deletes the cookie of a login when it ends', async () => {
    const browser = createBrowser();
    await browser.visit(home());
    const left = [...browser.jar.values()].map(({ name }) => name).filter((name) => name.startsWith('login_'));
    expect(left.filter((name) => !name.startsWith('login_rounds_'))).to.deep.equal([]);
  });

  it('hides its own cookies from scripts, even if they may read the session cookie', async () => {
    protect({ session: { redis: {}, cookieOptions: { notSecure: true, httpOnly: false } } });
    const browser = createBrowser();
    const begun = await browser.send(home());
    const { url } = await browser.visit(home(), { stopAt: isCallback });
    const done = await browser.send(url);
    const cookies = [...begun.headers.getSetCookie(), ...done.headers.getSetCookie()];
    expect(cookies.map((each) => each.split('_', 2).join('_'))).to.include.members(['login_rounds']);
    for (const cookie of cookies) expect(/; HttpOnly/.test(cookie), cookie).to.equal(!cookie.startsWith('__session='));
  });

  it('rejects a callback after a restart, with a link to start again', async () => {
    const browser = createBrowser();
    protect({ clientSecret: 'short' });
    const { url } = await browser.visit(home(), { stopAt: isCallback });
    protect({ clientSecret: 'short' });
    expect((await browser.send(url)).status).to.equal(400);
  });

  it('continues logins in progress after a restart with a shared key', async () => {
    const browser = createBrowser();
    protect({ signingKey: 'a signing key that all replicas share' });
    const { url } = await browser.visit(home(), { stopAt: isCallback });
    protect({ signingKey: 'a signing key that all replicas share' });
    expect((await browser.visit(url)).status).to.equal(200);
  });

  it('creates a new handle for each login: session fixation', async () => {
    const browser = createBrowser();
    const planted = 'A'.repeat(43);
    browser.jar.set('planted', {
      name: '__session',
      value: planted,
      host: new URL(home()).host,
      path: '/',
      ends: Infinity,
    });
    await browser.visit(home(), { stopAt: isCallback }).then(({ url }) => {
      browser.jar.delete('planted');
      return browser.visit(url);
    });
    const first = browser.cookie('__session')!;
    expect(first).to.not.equal(planted);
    const other = createBrowser('user@example.com');
    other.jar.set('known', { name: '__session', value: first, host: new URL(home()).host, path: '/', ends: Infinity });
    const { url } = await createBrowser().visit(home(), { stopAt: isCallback });
    expect((await other.send(url)).status).to.equal(400);
  });

  it('uses the session cookie that verifies if two have one name: cookie tossing', async () => {
    const browser = createBrowser();
    await browser.visit(home());
    const own = browser.cookie('__session')!;
    const answer = await browser.send(home(), { headers: { cookie: `__session=${'B'.repeat(43)}; __session=${own}` } });
    expect(answer.status).to.equal(200);
  });

  const scripts: Record<string, RequestInit> = {
    'Sec-Fetch-Mode: cors': { headers: { 'sec-fetch-mode': 'cors' } },
    'Sec-Fetch-Mode: no-cors': { headers: { 'sec-fetch-mode': 'no-cors' } },
    'X-Requested-With': { headers: { 'x-requested-with': 'XMLHttpRequest' } },
    'Sec-WebSocket-Version': { headers: { 'sec-websocket-version': '13' } },
    'a lost session during a POST': { method: 'POST', body: 'x=1' },
    'a lost session during a PUT': { method: 'PUT', body: 'x=1' },
    'a WebSocket': { headers: { 'sec-fetch-mode': 'websocket' } },
  };
  for (const [name, init] of Object.entries(scripts)) {
    it(`returns 401 JSON without a redirect or CORS headers: ${name}`, async () => {
      const headers = { ...(init.headers as Record<string, string>), origin: 'https://app.example.com' };
      const answer = await createBrowser().send(home(), { ...init, headers });
      expect(answer.status).to.equal(401);
      expect(((await answer.json()) as { code: string }).code).to.equal('ERR_OIDC_LOGIN_REQUIRED');
      for (const header of ['access-control-allow-origin', 'access-control-allow-credentials'])
        expect(answer.headers.get(header), header).to.equal(null);
      expect(answer.headers.get('location')).to.equal(null);
      expect(answer.headers.getSetCookie()).to.deep.equal([]);
    });
  }

  it('shows a page after two logins that were not kept', async () => {
    const browser = createBrowser();
    const losing = async () => {
      const seen = await browser.visit(home(), { stopAt: isCallback });
      if (!isCallback(seen.url)) return seen;
      await browser.send(seen.url);
      for (const [key, { name }] of browser.jar) if (name === '__session') browser.jar.delete(key);
      return seen;
    };
    await losing();
    await losing();
    const third = await losing();
    expect(third.status).to.equal(403);
    expect(third.body).to.contain('Start again');
    expect((await browser.visit(home())).status, 'the link works').to.equal(200);
  });

  it('removes client headers with the names of tokens and claims, in every spelling', async () => {
    const browser = createBrowser();
    await browser.visit(home());
    const headers = {
      'x-email': 'evil',
      x_email: 'evil',
      'X-Email': 'evil',
      jwt: 'evil',
      'x-access': 'evil',
      x_access: 'e',
    };
    const answer = (await (await browser.send(home(), { headers })).json()) as Echo;
    expect(JSON.stringify(answer.headers)).to.not.contain('evil');
    expect(answer.headers['x-email']).to.equal('admin@example.com');
  });

  describe('with tokens in cookies', () => {
    const session = { cookieOptions: { notSecure: true }, cookie: { allowRefreshing: true } };
    const login = async (name: string) => {
      const browser = createBrowser(name);
      await browser.visit(home());
      const cookies = Object.fromEntries([...browser.jar.values()].map((each) => [each.name, each.value]));
      return { browser, cookies };
    };
    const ask = (cookies: Record<string, string>): Promise<Response> => {
      const cookie = Object.entries(cookies).map(([name, value]) => `${name}=${value}`);
      return createBrowser().send(home(), { headers: { cookie: cookie.join('; ') } });
    };

    it('rejects an id token that was changed or is unsigned', async () => {
      protect({ session });
      const { cookies } = await login('admin@example.com');
      expect((await ask(cookies)).status).to.equal(200);
      const [header, payload, signature] = cookies.id_token!.split('.') as [string, string, string];
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const other = Buffer.from(JSON.stringify({ ...claims, email: 'root@example.com' })).toString('base64url');
      const none = Buffer.from('{"alg":"none"}').toString('base64url');
      for (const forged of [`${header}.${other}.${signature}`, `${none}.${other}.`, `${header}.${payload}.`, 'x']) {
        expect((await ask({ ...cookies, id_token: forged })).status).to.equal(302);
      }
    });

    it('rejects encrypted cookies that were mixed from two sessions, truncated, or swapped', async () => {
      const secret = {
        type: 'gw.vendor.io.EncryptionKeySecret',
        data: { key: Buffer.alloc(32, 7).toString('base64') },
      };
      const context = createContext({ secrets: { get: ({ name }) => (name === 'cipher' ? secret : undefined) } });
      const cipherConfig = { keyRef: { name: 'cipher', namespace: 'gw-system' } };
      world.site.use(oidc(world.options({ session: { ...session, cipherConfig } }), context));
      const one = (await login('admin@example.com')).cookies;
      const two = (await login('user@example.com')).cookies;
      expect(one.id_token).to.not.match(/^eyJ[^.]*\./);
      expect((await ask(one)).status).to.equal(200);
      const id = one.id_token!;
      const bad = [
        { ...one, id_token: two.id_token! },
        { ...one, id_token: one.access_token! },
        { ...one, id_token: id.slice(0, -4), access_token: 'x' },
        { id_token: `${id.slice(0, 20)}A${id.slice(21)}`, access_token: 'y' },
      ];
      for (const cookies of bad) expect((await ask(cookies as Record<string, string>)).status).to.equal(302);
      // A token of another session counts as missing: the own ones are renewed.
      const renewed = await ask({ ...one, access_token: two.access_token! });
      expect(renewed.status).to.equal(200);
      expect(((await renewed.json()) as Echo).headers['x-email']).to.equal('admin@example.com');
      expect(renewed.headers.getSetCookie().join()).to.contain('access_token=');
    });

    it('rejects a cipher key that does not have 32 bytes', () => {
      const secret = { type: 'gw.vendor.io.EncryptionKeySecret', data: { key: Buffer.alloc(31).toString('base64') } };
      const context = createContext({ secrets: { get: () => secret } });
      const cipherConfig = { keyRef: { name: 'cipher', namespace: 'gw-system' } };
      expect(() => oidc(world.options({ session: { cipherConfig } }), context)).to.throw(/32 bytes/);
    });
  });
});
