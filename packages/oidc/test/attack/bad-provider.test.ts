import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import { createContext } from '@edge-gateway/core';
import { oidc, type OidcOptions } from '../../src/index.ts';
import { until } from '../../../../test/parts/until.ts';
import { startBadProvider, type BadProvider } from '../parts/bad-provider.ts';
import { createBrowser, type Visited } from '../parts/browser.ts';
import { holdCallTimeouts } from '../parts/call-timeouts.ts';
import { startSite, type Site } from '../parts/site.ts';

describe('a login at a malicious provider', () => {
  let idp: BadProvider;
  let site: Site;
  const SECRET = 'a-secret-of-more-than-thirty-two-characters';
  const options = (more: Partial<OidcOptions> = {}): OidcOptions => ({
    issuerUrl: idp.issuer,
    clientId: 'web',
    clientSecret: SECRET,
    appUrl: site.url,
    callbackPath: '/callback',
    session: { redis: {}, cookieOptions: { notSecure: true } },
    ...more,
  });
  /** Added to the clock. */
  let shift = 0;
  const clock = (): number => Date.now() + shift;
  const protect = (more: Partial<OidcOptions> = {}): void =>
    site.use(oidc(options(more), createContext({ now: clock })));
  const visit = (): Promise<Visited> => createBrowser().visit(`${site.url}/a`);
  const refused = async (statuses: readonly number[]): Promise<Visited> => {
    const seen = site.seen.length;
    const answer = await visit();
    expect(statuses, answer.body).to.include(answer.status);
    expect(answer.body).to.match(/Start again|Try again/);
    expect(answer.body).to.not.match(/a-code|opaque|at .*\.ts|eyJ/);
    expect(site.seen.length).to.equal(seen);
    return answer;
  };
  before(async () => {
    site = await startSite();
    idp = await startBadProvider();
  });
  after(async () => {
    await idp.close();
    await site.close();
  });
  beforeEach(() => {
    idp.reset();
    shift = 0;
    protect();
  });

  it('accepts an honest provider', async () => {
    expect((await visit()).status).to.equal(200);
  });

  it('always uses PKCE with S256, even if the configuration says plain', async () => {
    protect({ authEndpointQueryParams: { code_challenge: 'x', code_challenge_method: 'plain', prompt: 'login' } });
    expect((await visit()).status).to.equal(200);
    expect(idp.last.get('code_challenge_method')).to.equal('S256');
    expect(idp.last.get('code_challenge')).to.match(/^[\w-]{43}$/);
    expect(idp.last.get('prompt')).to.equal('login');
    expect(idp.tokenRequest.get('code_verifier')).to.match(/^[\w-]{43}$/);
  });

  it('never lets the configuration replace state, nonce, redirect URI or response type', async () => {
    const evil = { state: 's', nonce: 'n', redirect_uri: 'https://evil.example/', response_type: 'token' };
    protect({ authEndpointQueryParams: { ...evil, response_mode: 'form_post' } });
    await visit();
    for (const [name, value] of Object.entries(evil)) expect(idp.last.get(name)).to.not.equal(value);
    expect(idp.last.get('response_mode')).to.equal(null);
  });

  const callbacks: Record<string, Record<string, string | undefined>> = {
    'a missing state': { state: undefined },
    'a foreign state': { state: 'foreign' },
    'an empty state': { state: '' },
    'a state as an unsigned JWT': { state: 'eyJhbGciOiJub25lIn0.eyJ0IjoiaHR0cHM6Ly9ldmlsLmV4YW1wbGUvIn0.' },
    'a state of 12,000 characters': { state: 'e'.repeat(12_000) },
    'a missing code': { code: undefined },
    'mix-up: the issuer parameter of another provider': { iss: 'https://other.example' },
  };
  for (const [name, callback] of Object.entries(callbacks)) {
    it(`rejects ${name}`, async () => {
      idp.callback = callback;
      await refused([400]);
      expect(idp.tokenRequest.get('code') ?? '').to.not.equal('evil');
    });
  }

  it('rejects mix-up: the issuer parameter is announced but missing', async () => {
    idp.metadata = { authorization_response_iss_parameter_supported: true };
    protect();
    await refused([400]);
  });

  it('shows an error of the provider as a page, without its text', async () => {
    idp.callback = { code: undefined, error: 'access_denied', error_description: '<script>alert(1)</script>' };
    const { body } = await refused([403]);
    expect(body).to.not.contain('<script>');
  });

  const hour = 3600;
  const now = (): number => Math.floor(Date.now() / 1000);
  const tokens: Record<string, (claims: JWTPayload) => JWTPayload> = {
    'a replayed nonce': (claims) => ({ ...claims, nonce: 'of-another-login' }),
    'no nonce': ({ nonce: _nonce, ...claims }) => claims,
    'an id token of another issuer': (claims) => ({ ...claims, iss: 'https://other.example' }),
    'an id token for another client': (claims) => ({ ...claims, aud: 'other' }),
    'an id token for several clients without azp': (claims) => ({ ...claims, aud: ['web', 'other'] }),
    'an id token whose azp is another client': (claims) => ({ ...claims, aud: ['web', 'other'], azp: 'other' }),
    'an id token without sub': ({ sub: _sub, ...claims }) => claims,
    'an id token without exp': ({ exp: _exp, ...claims }) => claims,
    'an id token without iat': ({ iat: _iat, ...claims }) => claims,
    'an exp that is text': (claims) => ({ ...claims, exp: '9999999999' as never }),
    'an at_hash of another access token': (claims) => ({ ...claims, at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' }),
  };
  for (const [name, change] of Object.entries(tokens)) {
    it(`rejects ${name}`, async () => {
      idp.claims = change;
      await refused([401, 403, 502]);
    });
  }

  it('works with clocks that differ by just under a minute', async () => {
    for (const by of [-55, 55]) {
      idp.claims = (claims) => ({ ...claims, iat: now() + by, exp: now() + by + hour });
      expect((await visit()).status, String(by)).to.equal(200);
    }
  });

  it('reports `clock` for clocks that differ by five minutes, without a redirect loop', async () => {
    idp.claims = (claims) => ({ ...claims, iat: now() - 2 * hour - 300, exp: now() - 300 });
    const answer = await visit();
    expect(answer.status).to.equal(401);
    expect(answer.body).to.contain('clock');
    expect(answer.hops.length).to.equal(3);
  });

  const forged: Record<string, () => Promise<string> | string> = {
    'alg none': () =>
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ iss: idp.issuer, sub: 'x', aud: 'web', iat: now(), exp: now() + 600, nonce: idp.last.get('nonce') })).toString('base64url')}.`,
    'a signature that is not its': async () => `${(await idp.sign(honest())).slice(0, -6)}AAAAAA`,
    'a key id that nobody knows': () => idp.sign(honest(), { kid: 'unknown' }),
    'not a token at all': () => 'garbage',
  };
  const honest = (): JWTPayload => ({
    iss: idp.issuer,
    sub: 'someone',
    aud: 'web',
    iat: now(),
    exp: now() + 600,
    nonce: idp.last.get('nonce')!,
  });
  for (const [name, make] of Object.entries(forged)) {
    it(`rejects an id token with ${name}`, async () => {
      const made = createBrowser();
      await made.send(`${site.url}/a`).then((answer) => {
        idp.last = new URL(answer.headers.get('location')!).searchParams;
      });
      const token = await make();
      idp.token = (answer) => ({ body: { ...answer, id_token: token } });
      await refused([403, 502]);
    });
  }

  it('rejects a response without an id token', async () => {
    idp.token = ({ id_token: _gone, ...answer }) => ({ body: answer });
    await refused([403, 502]);
  });

  it('rejects a token response that is HTML, empty, or 10 MiB', async () => {
    for (const body of ['<html>', '', 'x'.repeat(10 * 1024 * 1024)]) {
      idp.token = () => ({ body });
      await refused([502]);
    }
  });

  it('returns 503 while discovery fails, and recovers automatically', async () => {
    let clock = Date.now();
    const closed = await startBadProvider();
    await closed.close();
    site.use(oidc(options({ issuerUrl: closed.issuer }), createContext({ now: () => clock })));
    const answer = await createBrowser().send(`${site.url}/a`);
    expect(answer.status).to.equal(503);
    expect(answer.headers.get('retry-after')).to.equal('1');
    idp.metadata = { issuer: 'https://other.example' };
    site.use(oidc(options(), createContext({ now: () => clock })));
    expect((await createBrowser().send(`${site.url}/a`)).status).to.equal(502);
    idp.reset();
    clock += 1500;
    expect((await visit()).status).to.equal(200);
  });

  const discoveries: Record<string, Record<string, unknown>> = {
    'another issuer': { issuer: 'https://other.example' },
    'an issuer that only begins alike': { issuer: 'http://127.0.0.1' },
    'a token endpoint over http elsewhere': { token_endpoint: 'http://idp.example/token' },
    'an authorization endpoint that is a script': { authorization_endpoint: 'javascript:alert(1)' },
    'a key set with credentials in its address': { jwks_uri: 'https://user:password@idp.example/jwks' },
    'no token endpoint': { token_endpoint: undefined },
  };
  for (const [name, metadata] of Object.entries(discoveries)) {
    it(`rejects a discovery document with ${name}`, async () => {
      idp.metadata = metadata;
      protect();
      const answer = await createBrowser().send(`${site.url}/a`);
      expect(answer.status).to.equal(502);
    });
  }

  it('lets the configuration override discovery', async () => {
    idp.metadata = { token_endpoint: 'http://idp.example/token' };
    protect({ discoveryOverride: { tokenEndpoint: `${idp.issuer}/token` } });
    expect((await visit()).status).to.equal(200);
  });

  it('survives three key rotations without overlap, with one fetch of the key set each', async () => {
    expect((await visit()).status).to.equal(200);
    for (let rotation = 0; rotation < 3; rotation++) {
      await idp.rotate();
      // Of the five seconds after a fetch, in which there is no other, only the last ones are waited for.
      shift += 4700;
      const calls = idp.keyCalls;
      const answers = await Promise.all(Array.from({ length: 5 }, visit));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
      expect(idp.keyCalls - calls).to.equal(1);
    }
  });

  it('rejects unknown keys with the policy `never`', async () => {
    protect({ jwksCacheRefreshPolicy: { never: {} } });
    await visit();
    await idp.rotate();
    await refused([403]);
  });

  it('returns a 504 page when the token endpoint does not respond, and the same callback works later', async () => {
    const browser = createBrowser();
    let release: (() => void) | undefined;
    const first = await browser.visit(`${site.url}/a`, { stopAt: (url) => url.includes('/callback?') });
    const stuck = new Promise<void>((resolve) => {
      release = resolve;
    });
    idp.delay = stuck;
    const timeouts = holdCallTimeouts();
    const calls = idp.tokenCalls;
    const sent = browser.send(first.url);
    await until(() => idp.tokenCalls > calls, 'the call of the token endpoint');
    timeouts.expire();
    timeouts.restore();
    const answer = await sent;
    expect(answer.status).to.equal(504);
    expect(await answer.text()).to.contain('href=""');
    release?.();
    idp.delay = undefined;
    expect((await browser.visit(first.url)).status).to.equal(200);
  });
});
