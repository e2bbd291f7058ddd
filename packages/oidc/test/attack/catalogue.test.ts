import { expect } from 'chai';
import { createBrowser, type Browser } from '../parts/browser.ts';
import { startBadWorld, type BadWorld } from '../parts/bad-world.ts';
import { sendRaw } from '../parts/raw-request.ts';

const HOUR = 3600;
const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };

describe('attacks on a login', () => {
  let world: BadWorld;
  const seconds = (): number => Math.floor(Date.now() / 1000);
  const statusOf = async (browser: Browser, path = '/a'): Promise<number> =>
    (await browser.send(`${world.site.url}${path}`)).status;
  before(async () => {
    world = await startBadWorld();
  });
  after(() => world.close());
  beforeEach(() => {
    world.shift = 0;
    world.idp.reset();
    world.protect();
  });

  describe('PKCE that a provider would do without', () => {
    for (const [name, methods] of Object.entries({
      'only plain': ['plain'],
      none: [],
      'nothing announced': undefined,
    })) {
      it(`is S256 all the same: ${name}`, async () => {
        world.idp.metadata = { code_challenge_methods_supported: methods };
        expect((await world.visit()).status).to.equal(200);
        expect(world.idp.last.get('code_challenge_method')).to.equal('S256');
        expect(world.idp.tokenRequest.get('code_verifier')).to.match(/^[\w-]{43}$/);
      });
    }

    it('is another for each login, and never the state or the nonce', async () => {
      await world.visit();
      const first = world.idp.last;
      await world.visit();
      const second = world.idp.last;
      for (const name of ['code_challenge', 'state', 'nonce']) expect(first.get(name)).to.not.equal(second.get(name));
      const verifier = world.idp.tokenRequest.get('code_verifier');
      expect([second.get('state'), second.get('nonce'), second.get('code_challenge')]).to.not.include(verifier);
    });
  });

  describe('the redirect URI', () => {
    const headers: Record<string, Record<string, string>> = {
      'another host': { host: 'evil.example' },
      'a forwarded host': {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
      },
      'a port': { host: '127.0.0.1:1' },
      'an original URL': { 'x-original-url': '//evil.example/callback', 'x-rewrite-url': '/evil' },
    };
    for (const [name, sent] of Object.entries(headers)) {
      it(`is the configured one whatever a request says: ${name}`, async () => {
        const { location = '' } = await sendRaw(world.site.url, '/a', sent);
        expect(new URL(location).searchParams.get('redirect_uri')).to.equal(`${world.site.url}/callback`);
      });
    }

    it('is the same in the token request', async () => {
      await world.visit();
      expect(world.idp.tokenRequest.get('redirect_uri')).to.equal(`${world.site.url}/callback`);
    });

    for (const path of [
      '/callback/',
      '/CALLBACK',
      '/callback%2f',
      '/callback%00',
      '/callback;x',
      '//callback',
      '/x/../callback',
      '/callback/x',
      '/%63allback',
      '/callback.',
    ]) {
      it(`has no other spelling that takes a code: ${path}`, async () => {
        const { browser, url } = await world.atCallback();
        const calls = world.idp.tokenCalls;
        const cookie = [...browser.jar.values()].map(({ name, value }) => `${name}=${value}`).join('; ');
        const answer = await sendRaw(world.site.url, path + new URL(url).search, { cookie });
        expect(world.idp.tokenCalls).to.equal(calls);
        expect(answer.status).to.equal(302);
        expect(answer.location).to.contain(`${world.idp.issuer}/authorize`);
      });
    }
  });

  it('userinfo of another subject says nothing: it is never asked', async () => {
    world.idp.metadata = { userinfo_endpoint: `${world.idp.issuer}/userinfo` };
    world.protect({ identityToken: { claimsToHeaders: [{ claim: 'sub', header: 'x-user' }] } });
    const { status, body } = await world.visit();
    expect(status).to.equal(200);
    expect((JSON.parse(body) as { headers: Record<string, string> }).headers['x-user']).to.equal('someone');
    expect(world.idp.paths).to.not.include('/userinfo');
  });

  describe('callbacks that are not well-formed', () => {
    const changes: Record<string, (url: URL) => void> = {
      'two states': (url) => url.searchParams.append('state', 'x'),
      'two codes': (url) => url.searchParams.append('code', 'x'),
      'two issuers': (url) => {
        url.searchParams.append('iss', world.idp.issuer);
        url.searchParams.append('iss', world.idp.issuer);
      },
      'a code and an error': (url) => url.searchParams.append('error', 'access_denied'),
      'a state that was cut': (url) => url.searchParams.set('state', url.searchParams.get('state')!.slice(0, -2)),
      'a state with one letter changed': (url) => {
        const state = url.searchParams.get('state')!;
        url.searchParams.set('state', `${state.slice(0, -8)}${state.at(-8) === 'A' ? 'B' : 'A'}${state.slice(-7)}`);
      },
      'parameters in the fragment of an implicit login': (url) => {
        url.searchParams.delete('code');
        url.searchParams.set('id_token', 'x');
      },
      'a response in a JWT': (url) => {
        url.searchParams.delete('code');
        url.searchParams.set('response', 'eyJhbGciOiJub25lIn0.e30.');
      },
    };
    for (const [name, change] of Object.entries(changes)) {
      it(`are a page to start again from: ${name}`, async () => {
        const { browser, url } = await world.atCallback();
        const changed = new URL(url);
        change(changed);
        const answer = await browser.send(changed.href);
        expect([400, 403, 502]).to.include(answer.status);
        expect(await answer.text()).to.match(/Start again|Try again/);
        expect(browser.cookie('__session')).to.equal(undefined);
      });
    }

    it('are no form: POST', async () => {
      const { browser, url } = await world.atCallback();
      const body = new URLSearchParams(new URL(url).searchParams);
      const answer = await browser.send(`${world.site.url}/callback`, { method: 'POST', body });
      expect(answer.status).to.equal(400);
      expect(browser.cookie('__session')).to.equal(undefined);
    });
  });

  it('a cookie of a login under way that a sibling host tosses beside the own gives none', async () => {
    const { browser, url } = await world.atCallback();
    const own = [...browser.jar.values()].find(({ name }) => name.startsWith('login_'))!;
    const cookie = `${own.name}=${'B'.repeat(43)}; ${own.name}=${own.value}`;
    expect((await browser.send(url, { headers: { cookie } })).status).to.equal(400);
    expect((await browser.send(url)).status, 'without it').to.equal(302);
  });

  it('chunks of cookies that are missing, reordered, doubled or of another session give none', async () => {
    world.protect({ session: { cookieOptions: { notSecure: true } } });
    const login = async (subject: string): Promise<Record<string, string>> => {
      world.idp.claims = (claims) => ({
        ...claims,
        sub: subject,
        groups: Array.from({ length: 900 }, (_, i) => `g${i}`),
      });
      const browser = createBrowser();
      expect((await world.visit(browser)).status).to.equal(200);
      return Object.fromEntries([...browser.jar.values()].map(({ name, value }) => [name, value]));
    };
    const ask = async (cookies: Record<string, string | undefined>): Promise<number> => {
      const pairs = Object.entries(cookies).filter(([, value]) => value !== undefined);
      const cookie = pairs.map(([name, value]) => `${name}=${value}`).join('; ');
      return (await createBrowser().send(`${world.site.url}/a`, { headers: { cookie } })).status;
    };
    const [mine, other] = [await login('me'), await login('you')];
    expect(mine).to.include.keys('id_token_1', 'id_token_2');
    expect(await ask(mine)).to.equal(200);
    for (const changed of [
      { ...mine, id_token_2: undefined },
      { ...mine, id_token_1: mine.id_token_2, id_token_2: mine.id_token_1 },
      { ...mine, id_token_2: mine.id_token_1 },
      { ...mine, id_token_2: other.id_token_2 },
      { ...mine, id_token: other.id_token },
    ])
      expect(await ask(changed)).to.equal(302);
  });

  it('a huge list of groups is kept in a store, and is no header too large to send', async () => {
    const groups = Array.from({ length: 10_000 }, (_, i) => `group-${i}`);
    world.idp.claims = (claims) => ({ ...claims, groups });
    expect((await world.visit()).status).to.equal(200);
    world.protect({ session: { cookieOptions: { notSecure: true } } });
    const refused = await world.visit();
    expect(refused.status).to.equal(500);
    expect(refused.body).to.contain('ERR_OIDC_SESSION_TOO_LARGE').and.not.contain('group-');
  });

  describe('F13: clocks', () => {
    const at = (by: number, lifetime = HOUR): void => {
      world.idp.claims = (claims) => ({ ...claims, iat: seconds() + by, exp: seconds() + by + lifetime });
    };
    for (const by of [-58, -30, 0, 30, 58]) {
      it(`that differ by ${by} s do not matter`, async () => {
        at(by);
        const browser = createBrowser();
        expect((await world.visit(browser)).status).to.equal(200);
        expect(await statusOf(browser)).to.equal(200);
      });
    }

    for (const [name, by, lifetime] of [
      ['five minutes ahead', 300, HOUR],
      ['five minutes behind', -300, HOUR],
      ['five minutes behind, tokens of four', -300, 240],
    ] as const) {
      it(`at the provider that are ${name} are a 401 page and a log line with the reason \`clock\``, async () => {
        at(by, lifetime);
        const answer = await world.visit();
        expect(answer.status).to.equal(401);
        expect(answer.body).to.contain('clock').and.contain('Start again');
        expect(answer.headers.get('www-authenticate')).to.contain('clock');
        expect(answer.hops.length, 'no login after it').to.equal(3);
        const lines = world.log.filter(({ reason }) => reason === 'clock');
        expect(lines.length).to.equal(1);
        expect(lines[0]).to.include({ msg: 'login failed' });
      });
    }

    it('of the site that are five minutes off say the same', async () => {
      for (const shift of [-300_000, 300_000]) {
        world.protect();
        world.shift = shift;
        expect((await world.visit()).status, String(shift)).to.equal(401);
        expect(world.log.filter(({ reason }) => reason === 'clock').length).to.equal(1);
      }
    });

    it('or tokens that end at once lead to at most two logins, then to a page', async () => {
      world.idp.token = (answer) => ({ body: { ...answer, expires_in: 0 } });
      const calls = world.idp.tokenCalls;
      const answer = await world.visit();
      expect(answer.status).to.equal(403);
      expect(answer.body).to.contain('does not hold').and.contain('Start again');
      expect(world.idp.tokenCalls - calls).to.equal(2);
    });
  });

  describe('a provider that moves', () => {
    const moved = (): void => {
      const at = `${world.idp.issuer}/2`;
      world.idp.metadata = {
        authorization_endpoint: `${at}/authorize`,
        token_endpoint: `${at}/token`,
        jwks_uri: `${at}/jwks`,
      };
    };

    it('is found at its new endpoints after discoveryPollInterval, and nobody is logged out', async () => {
      world.protect({ discoveryPollInterval: '60s' });
      const browser = createBrowser();
      await world.visit(browser);
      moved();
      await world.visit();
      expect(world.idp.paths.filter((path) => path.startsWith('/2'))).to.deep.equal([]);
      world.shift = 61_000;
      await world.visit();
      world.idp.paths.length = 0;
      expect(await statusOf(browser)).to.equal(200);
      world.shift = 62_000;
      expect((await world.visit()).status).to.equal(200);
      expect(world.idp.paths).to.include.members(['/2/authorize', '/2/token']);
    });

    it('to endpoints that are not to be trusted is not followed: the old ones go on', async () => {
      world.protect({ discoveryPollInterval: '60s' });
      await world.visit();
      world.idp.metadata = { token_endpoint: 'http://evil.example/token', issuer: world.idp.issuer };
      world.shift = 61_000;
      await world.visit();
      world.shift = 62_500;
      expect((await world.visit()).status).to.equal(200);
    });
  });

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

    it('for a subject ends all of its sessions, for a session only that', async () => {
      world.protect(channel);
      const [one, two, three] = [await login('1'), await login('2'), await login('3')];
      expect(await send({ sub: 'someone', sid: '1' })).to.equal(200);
      expect([await statusOf(one), await statusOf(two), await statusOf(three)]).to.deep.equal([302, 200, 200]);
      expect(await send({ sub: 'another' })).to.equal(200);
      expect([await statusOf(two), await statusOf(three)]).to.deep.equal([200, 200]);
      expect(await send({ sub: 'someone' })).to.equal(200);
      expect([await statusOf(two), await statusOf(three)]).to.deep.equal([302, 302]);
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
      'an age of ten minutes': { sub: 'someone', iat: Math.floor(Date.now() / 1000) - 600 },
    })) {
      it(`is refused with ${name}`, async () => {
        world.protect(channel);
        const browser = await login('1');
        expect(await send(claims)).to.equal(400);
        expect(await statusOf(browser)).to.equal(200);
      });
    }
  });

  describe('logout CSRF', () => {
    for (const [name, headers] of Object.entries({
      'a link of another site': { 'sec-fetch-site': 'cross-site' },
      'a sibling host': { 'sec-fetch-site': 'same-site' },
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
