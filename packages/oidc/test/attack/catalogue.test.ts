import { expect } from 'chai';
import { createBrowser } from '../parts/browser.ts';
import { useBadWorld } from '../parts/bad-world.ts';
import { sendRaw } from '../parts/raw-request.ts';

describe('attacks on a login', () => {
  const world = useBadWorld();
  beforeEach(() => world.protect());

  describe('PKCE for a provider that does not require it', () => {
    for (const [name, methods] of Object.entries({
      'only plain': ['plain'],
      none: [],
      'nothing announced': undefined,
    })) {
      it(`uses S256: ${name}`, async () => {
        world.idp.metadata = { code_challenge_methods_supported: methods };
        expect((await world.visit()).status).to.equal(200);
        expect(world.idp.last.get('code_challenge_method')).to.equal('S256');
        expect(world.idp.tokenRequest.get('code_verifier')).to.match(/^[\w-]{43}$/);
      });
    }

    it('differs for each login, and from the state and the nonce', async () => {
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
      it(`is the configured one, whatever a request contains: ${name}`, async () => {
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
      it(`accepts a code in no other spelling: ${path}`, async () => {
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

  it('userinfo of another subject has no effect: it is never called', async () => {
    world.idp.metadata = { userinfo_endpoint: `${world.idp.issuer}/userinfo` };
    world.protect({ identityToken: { claimsToHeaders: [{ claim: 'sub', header: 'x-user' }] } });
    const { status, body } = await world.visit();
    expect(status).to.equal(200);
    expect((JSON.parse(body) as { headers: Record<string, string> }).headers['x-user']).to.equal('someone');
    expect(world.idp.paths).to.not.include('/userinfo');
  });

  describe('malformed callbacks', () => {
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
      it(`cause a page with a link to start again: ${name}`, async () => {
        const { browser, url } = await world.atCallback();
        const changed = new URL(url);
        change(changed);
        const answer = await browser.send(changed.href);
        expect([400, 403]).to.include(answer.status);
        expect(await answer.text()).to.match(/Start again/);
        expect(browser.cookie('__session')).to.equal(undefined);
      });

      it(`cause JSON for a client that accepts nothing else: ${name}`, async () => {
        const { browser, url } = await world.atCallback();
        const changed = new URL(url);
        change(changed);
        const headers = { accept: 'application/json', 'sec-fetch-mode': 'cors' };
        const answer = await browser.send(changed.href, { headers });
        expect([400, 403]).to.include(answer.status);
        expect(await answer.json()).to.include({ code: 'ERR_OIDC_LOGIN_FAILED' });
      });
    }

    it('include forms: POST', async () => {
      const { browser, url } = await world.atCallback();
      const body = new URLSearchParams(new URL(url).searchParams);
      const answer = await browser.send(`${world.site.url}/callback`, { method: 'POST', body });
      expect(answer.status).to.equal(400);
      expect(browser.cookie('__session')).to.equal(undefined);
    });
  });

  it('missing, reordered, duplicated or foreign chunks of cookies are rejected', async () => {
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

  it('a huge list of groups is stored, and never becomes a header that is too large', async () => {
    const groups = Array.from({ length: 10_000 }, (_, i) => `group-${i}`);
    world.idp.claims = (claims) => ({ ...claims, groups });
    expect((await world.visit()).status).to.equal(200);
    world.protect({ session: { cookieOptions: { notSecure: true } } });
    const refused = await world.visit();
    expect(refused.status).to.equal(500);
    expect(refused.body).to.contain('ERR_OIDC_SESSION_TOO_LARGE').and.not.contain('group-');
  });
});
