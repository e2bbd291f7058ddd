import { expect } from 'chai';
import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import {
  createContext,
  deriveKey,
  digest,
  keyedDigest,
  createPages,
  withPage,
  type AuthAllowed,
  type AuthDecision,
  type AuthDenied,
  type AuthMethod,
  type AuthRequest,
  type Context,
  type SecretValue,
} from '@edge-gateway/core';
import type { OidcAuthorizationCode } from '@edge-gateway/core/schema';
import { oauth2Method, oidcMethod } from '../src/index.ts';
import { startBadProvider, type BadProvider } from './parts/bad-provider.ts';

/** What a person reads of a denial. */
const bodyOf = (denied: unknown) => withPage(denied as AuthDenied, createPages()).body;
const secret = (data: Record<string, string>): SecretValue => ({
  type: 'extauth.vendor.io/oauth',
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const { privateKey: curve } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (key: typeof privateKey): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const SECRETS: Record<string, SecretValue> = {
  'gw-system.web': secret({ 'client-secret': 'a secret: with / odd % characters' }),
  'gw-system.empty': secret({ other: 'x' }),
  'gw-system.rsa': secret({ 'private-key': pem(privateKey), kid: 'my-key' }),
  'gw-system.ec': secret({ 'tls.key': pem(curve) }),
  'gw-system.broken': secret({ 'private-key': 'not a key' }),
};

describe('login as an auth method', () => {
  let idp: BadProvider;
  let context: Context;
  const block = (more: Partial<OidcAuthorizationCode> = {}): OidcAuthorizationCode => ({
    issuerUrl: idp.issuer,
    clientId: 'web',
    clientSecretRef: { name: 'web', namespace: 'gw-system' },
    appUrl: 'https://app.example.com',
    callbackPath: '/callback',
    session: { redis: {} },
    ...more,
  });
  const make = (more?: Partial<OidcAuthorizationCode>, id = 'gw-system.login/main'): AuthMethod =>
    oidcMethod.create(block(more), { id, context });
  before(async () => {
    idp = await startBadProvider();
  });
  after(() => idp.close());
  beforeEach(() => {
    idp.reset();
    const get = ({ name, namespace }: { name: string; namespace: string }) => SECRETS[`${namespace}.${name}`];
    context = createContext({ secrets: { get } });
  });

  const asked = (path: string, headers: Record<string, string> = {}, more: Partial<AuthRequest> = {}): AuthRequest => ({
    requestId: 'r',
    method: 'GET',
    scheme: 'https',
    host: 'app.example.com',
    path,
    header: (name) => headers[name],
    headers: () => Object.entries(headers).flat(),
    clientAddress: '127.0.0.1',
    state: {},
    metadata: new Map(),
    ...more,
  });
  const headersOf = (decision: AuthDecision, name: string): string[] => {
    const flat = decision.allowed ? [] : (decision.headers ?? []);
    return flat.filter((_value, i) => i % 2 === 1 && flat[i - 1] === name);
  };
  const cookiesOf = (decision: AuthDecision): Record<string, string> =>
    Object.fromEntries(headersOf(decision, 'set-cookie').map((each) => each.split(';', 1)[0]!.split(/=(.*)/s, 2)));
  const cookieHeader = (cookies: Record<string, string>): string =>
    Object.entries(cookies)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');

  /** A whole login; gives the decision at the callback and the cookies after it. */
  async function logIn(method: AuthMethod, start: Partial<AuthRequest> = {}) {
    const begun = await method.authorize(asked('/page?x=1', {}, start));
    expect(begun).to.include({ allowed: false, status: 302, redirect: true });
    const sent = await fetch(headersOf(begun, 'location')[0]!, { redirect: 'manual' });
    const back = new URL(sent.headers.get('location')!);
    const cookies = cookiesOf(begun);
    const done = await method.authorize(asked(back.pathname + back.search, { cookie: cookieHeader(cookies) }, start));
    return { begun, done, back, cookies: { ...cookies, ...cookiesOf(done) } };
  }
  const enter = async (method: AuthMethod, cookies: Record<string, string>, more = {}): Promise<AuthDecision> =>
    method.authorize(asked('/page', { cookie: cookieHeader(cookies), ...more }));

  it('logs in, sets secure cookies, and returns state, user and metadata', async () => {
    const method = make({ dynamicMetadataFromClaims: { subject: 'sub', none: 'missing' } });
    const { begun, done, cookies } = await logIn(method);
    expect(headersOf(begun, 'set-cookie')[0]).to.match(
      /^__Host-login_[\w-]{6}_\w+_[\w-]{8}=[\w-]{43}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
    );
    expect(headersOf(done, 'location')).to.deep.equal(['https://app.example.com/page?x=1']);
    expect(headersOf(done, 'set-cookie')[0]).to.match(
      /^__Host-__session=[\w-]{43}; Path=\/; Max-Age=2592000; Secure; HttpOnly; SameSite=Lax$/,
    );
    const allowed = (await enter(method, cookies)) as AuthAllowed;
    expect(allowed.allowed).to.equal(true);
    expect(allowed.userId).to.equal('someone');
    expect(allowed.metadata).to.deep.equal({ subject: 'someone' });
    expect(allowed.state?.jwt).to.be.a('string');
  });

  it('limits its calls itself, and declares the headers that only it may set', () => {
    const headers = { idTokenHeader: 'X-Id', accessTokenHeader: 'Authorization' };
    const block = { headers, identityToken: { claimsToHeaders: [{ claim: 'email', header: 'X-Email' }] } };
    expect(make(block)).to.include({ local: true });
    expect(oidcMethod.grantedHeaders!(block)).to.deep.equal(['x-id', 'x-email']);
  });

  it('marks the callback as no redirect to a login, so that failOnRedirect lets it through', async () => {
    const { done } = await logIn(make());
    expect(done).to.include({ status: 302 }).and.not.have.property('redirect');
  });

  for (const [name, session] of [
    ['in a store', { redis: {} }],
    ['in cookies with a deny list', { cookie: { logoutDenyList: {} } }],
  ] as const) {
    it(`tells open connections that a session ${name} has ended by a logout`, async () => {
      const method = make({ session, logoutPath: '/logout' });
      const { cookies } = await logIn(method);
      const { isSessionOpen } = (await enter(method, cookies)) as AuthAllowed;
      expect(await isSessionOpen!()).to.equal(true);
      const headers = { cookie: cookieHeader(cookies), 'sec-fetch-site': 'same-origin' };
      expect(await method.authorize(asked('/logout', headers))).to.include({ status: 302 });
      expect(await isSessionOpen!()).to.equal(false);
    });
  }

  for (const [name, allowRefreshing] of [
    ['that a session has ended whose tokens have expired', false],
    ['nothing if the session can be renewed', true],
  ] as const) {
    it(`tells open connections ${name}`, async () => {
      let shift = 0;
      context = createContext({ secrets: context.secrets, now: () => Date.now() + shift });
      idp.token = (answer) => ({ body: { ...answer, refresh_token: 'r', expires_in: 300 } });
      const method = make({ session: { redis: { allowRefreshing } } });
      const { cookies } = await logIn(method);
      const { isSessionOpen } = (await enter(method, cookies)) as AuthAllowed;
      shift = 301_000;
      expect(await isSessionOpen!()).to.equal(allowRefreshing);
    });
  }

  it('keeps sessions across a reload', async () => {
    const { cookies } = await logIn(make());
    expect((await enter(make({ scopes: ['email'] }), cookies)).allowed).to.equal(true);
  });

  for (const [name, alg] of [
    ['rsa', 'RS256'],
    ['ec', 'ES256'],
  ] as const) {
    it(`authenticates with a private key: ${alg}`, async () => {
      const privateKeyJwt = { signingKeyRef: { name, namespace: 'gw-system' }, validFor: '7s' };
      const method = make({ clientSecretRef: undefined, clientAuthentication: { privateKeyJwt } });
      const { done } = await logIn(method);
      expect(done).to.include({ status: 302 });
      const assertion = idp.tokenRequest.get('client_assertion')!;
      expect(decodeProtectedHeader(assertion)).to.include({ alg });
      if (name === 'rsa') expect(decodeProtectedHeader(assertion).kid).to.equal('my-key');
      const claims = decodeJwt(assertion);
      expect(claims.exp! - claims.iat!).to.equal(7);
      expect(claims.sub).to.equal('web');
    });
  }

  it('rejects secrets that are missing, empty or not a key', () => {
    const ref = (name: string) => ({ name, namespace: 'gw-system' });
    expect(() => make({ clientSecretRef: ref('missing') })).to.throw(/gw-system.missing/);
    expect(() => make({ clientSecretRef: ref('empty') })).to.throw(/client-secret/);
    for (const name of ['missing', 'empty', 'broken']) {
      const privateKeyJwt = { signingKeyRef: ref(name) };
      expect(() => make({ clientSecretRef: undefined, clientAuthentication: { privateKeyJwt } })).to.throw(
        /private key/,
      );
    }
  });

  it('rejects a weak shared signing key, and names its Secret', () => {
    SECRETS['gw-system.extauth-signing-key'] = secret({ 'signing-key': 'changeit' });
    try {
      expect(() => make()).to.throw(/^signing-key of Secret gw-system\.extauth-signing-key has 8 bytes/);
    } finally {
      delete SECRETS['gw-system.extauth-signing-key'];
    }
  });

  it('rejects an invalid lookup of groups', () => {
    expect(() => make({ azure: { clientId: 'x' } })).to.throw(/tenantId/);
  });

  it('splits long tokens into cookies, and rejects tokens that are too long', async () => {
    const method = make({ session: { cookie: { keyPrefix: 'app' } } });
    idp.claims = (claims) => ({ ...claims, groups: Array.from({ length: 500 }, (_, i) => `group-${i}`) });
    const { cookies } = await logIn(method);
    expect(Object.keys(cookies)).to.include.members([
      'app_id_token',
      'app_id_token_1',
      'app_id_token_2',
      'app_access_token',
    ]);
    expect((await enter(method, cookies)).allowed).to.equal(true);
    const { app_id_token_2: _gone, ...missing } = cookies as Record<string, string>;
    expect((await enter(method, missing)).allowed).to.equal(false);
    idp.claims = (claims) => ({ ...claims, groups: Array.from({ length: 5000 }, (_, i) => `group-${i}`) });
    const { done } = await logIn(method);
    expect(done).to.include({ status: 500 });
    expect(bodyOf(done)).to.contain('ERR_OIDC_SESSION_TOO_LARGE');
  });

  it('works with several providers, and rejects the state of one at another', async () => {
    const one = make({ session: { redis: { cookieName: 'one' } } }, 'a/one');
    const two = make({ session: { redis: { cookieName: 'two' } }, callbackPath: '/two/callback' }, 'a/two');
    const first = await logIn(one);
    const second = await logIn(two);
    const cookies = { ...first.cookies, ...second.cookies };
    expect((await enter(one, cookies)).allowed).to.equal(true);
    expect((await enter(two, cookies)).allowed).to.equal(true);
    const begun = await one.authorize(asked('/page'));
    const state = new URL(headersOf(begun, 'location')[0]!).searchParams.get('state');
    const crossed = await two.authorize(
      asked(`/two/callback?code=x&state=${state}`, { cookie: cookieHeader(cookiesOf(begun)) }),
    );
    expect(crossed).to.include({ allowed: false, status: 400 });
  });

  it('rejects hosts outside targetDomain', async () => {
    const method = make({ session: { redis: { targetDomain: 'example.com' } } });
    for (const host of ['app.example.com', 'example.com:8443', 'EXAMPLE.com']) {
      expect(await method.authorize(asked('/', {}, { host })), host).to.include({ status: 302 });
    }
    for (const host of ['example.com.evil', 'notexample.com', '']) {
      expect(await method.authorize(asked('/', {}, { host })), host).to.include({ status: 403 });
    }
  });

  it('redirects back to a host in the domain of the cookies, and to no other', async () => {
    const method = make({ session: { redis: {}, cookieOptions: { domain: 'example.com' } } });
    const sibling = await logIn(method, { host: 'shop.example.com' });
    expect(headersOf(sibling.done, 'location')).to.deep.equal(['https://shop.example.com/page?x=1']);
    expect(headersOf(sibling.begun, 'set-cookie')[0]).to.match(/^__Secure-login_.*Domain=example.com/);
    const evil = await logIn(method, { host: 'evil.example' });
    expect(headersOf(evil.done, 'location')).to.deep.equal(['https://app.example.com/']);
  });

  it('inserts an intermediate page if cookies are SameSite=Strict', async () => {
    const { done } = await logIn(make({ session: { redis: {}, cookieOptions: { sameSite: 'StrictMode' } } }));
    expect(done).to.include({ status: 200 });
    expect(bodyOf(done)).to.contain('content="0;url=https://app.example.com/page?x=1"');
  });

  it('matches the callback by a regular expression, and below the path of appUrl', async () => {
    const method = make({
      appUrl: 'https://app.example.com/shop/',
      callbackPath: '/cb.*',
      parseCallbackPathAsRegex: true,
    });
    const { back, done } = await logIn(method);
    expect(back.pathname).to.equal('/shop/cb');
    expect(done).to.include({ status: 302 });
  });

  it('reads parameters from metadata, and sends the session id to the provider', async () => {
    const method = make({ autoMapFromMetadata: {}, session: { redis: { headerName: 'x-session' } } });
    const metadata = new Map([['vendor_authconfig_oidc', { login_hint: 'me', number: 1 }]]);
    const { done } = await logIn(method, { metadata });
    expect(done).to.include({ status: 302 });
    expect(idp.last.get('login_hint')).to.equal('me');
    expect(idp.last.has('number')).to.equal(false);
    expect(idp.tokenRequest.get('login_hint')).to.equal('me');
    expect(idp.tokenHeaders['x-session']).to.match(/^[\w-]{43}$/);
  });

  it('reads parameters from the metadata of `autoMapFromMetadata.namespace` only', async () => {
    const method = make({ autoMapFromMetadata: { namespace: 'mine' } });
    const metadata = new Map([
      ['mine', { login_hint: 'me' }],
      ['vendor_authconfig_oidc', { login_hint: 'another', ui_locales: 'de' }],
    ]);
    await logIn(method, { metadata });
    expect(idp.last.get('login_hint')).to.equal('me');
    expect(idp.last.has('ui_locales')).to.equal(false);
  });

  it('ends the session at the provider by a form if configured', async () => {
    idp.metadata = { end_session_endpoint: `${idp.issuer}/end` };
    const method = make({ logoutPath: '/logout', endSessionProperties: { methodType: 'PostMethod' } });
    const { cookies } = await logIn(method);
    const headers = { cookie: cookieHeader(cookies), 'sec-fetch-site': 'none' };
    const decision = await method.authorize(asked('/logout', headers));
    expect(decision).to.include({ status: 200 });
    expect(bodyOf(decision))
      .to.contain(`action="${idp.issuer}/end"`)
      .and.contain('name="client_id" value="web"')
      .and.not.contain('id_token_hint');
    expect(headersOf(decision, 'set-cookie').join()).to.contain('__Host-__session=; Path=/; Max-Age=0');
  });

  it('logs in by plain OAuth 2, without discovery and id tokens', async () => {
    const method = oauth2Method.create(
      {
        clientId: 'web',
        clientSecretRef: { name: 'web', namespace: 'gw-system' },
        appUrl: 'https://app.example.com',
        callbackPath: '/callback',
        authEndpoint: `${idp.issuer}/authorize`,
        tokenEndpoint: `${idp.issuer}/token`,
        scopes: ['read'],
        session: { redis: {} },
      },
      { id: 'a/plain', context },
    );
    idp.claims = (claims) => ({ ...claims, iss: 'https://other.example' });
    const { cookies } = await logIn(method);
    expect(idp.last.get('scope')).to.equal('read');
    expect(idp.last.has('nonce')).to.equal(false);
    expect((await enter(method, cookies)).allowed).to.equal(true);
    expect(() =>
      oauth2Method.create(
        { clientId: 'a', appUrl: 'https://a', callbackPath: '/', authEndpoint: '', tokenEndpoint: '' },
        { id: 'x', context },
      ),
    ).to.throw(/authEndpoint/);
  });

  describe('with tokens in cookies', () => {
    const plain = (more: object = {}): AuthMethod =>
      oauth2Method.create(
        {
          clientId: 'web',
          clientSecretRef: { name: 'web', namespace: 'gw-system' },
          appUrl: 'https://app.example.com',
          callbackPath: '/callback',
          authEndpoint: `${idp.issuer}/authorize`,
          tokenEndpoint: `${idp.issuer}/token`,
          ...more,
        },
        { id: 'a/plain', context },
      );
    const tokens = async (idToken: object = {}, accessToken: object = {}): Promise<Record<string, string>> => {
      const now = Math.floor(Date.now() / 1000);
      const common = { iss: idp.issuer, sub: 'someone', iat: now, exp: now + 600 };
      return tied({
        id_token: await idp.sign({ ...common, aud: 'web', ...idToken }),
        access_token: await idp.sign({ ...common, aud: 'api', ...accessToken }),
      });
    };
    /** Adds the cookie that only the gateway can write: its key is derived from the client secret. */
    const tied = (cookies: { id_token: string; access_token: string }): Record<string, string> => {
      const stateKey = deriveKey('a secret: with / odd % characters', 'oidc state');
      const bound = ['a login', digest(cookies.id_token), digest(cookies.access_token), ''].join('.');
      const names = ['id_token', 'access_token', 'refresh_token'];
      const mac = keyedDigest(
        deriveKey(stateKey, 'oidc token mac'),
        JSON.stringify([JSON.stringify([idp.issuer, 'web']), ...names, bound]),
      );
      return { ...cookies, '__Host-token_mac': `${bound}.${mac}` };
    };
    const roleHeader = { accessToken: { claimsToHeaders: [{ claim: 'role', header: 'x-role' }] } };
    const inCookies = (more: Partial<OidcAuthorizationCode> = {}): AuthMethod => make({ session: {}, ...more });

    it('plain OAuth 2 accepts only tokens of its own logins, for this client', async () => {
      const { cookies } = await logIn(plain());
      expect((await enter(plain(), cookies)).allowed).to.equal(true);
      expect((await enter(plain(), { access_token: 'opaque' })).allowed).to.equal(false);
      expect((await enter(plain({ clientId: 'other' }), cookies)).allowed).to.equal(false);
    });

    it('encrypted cookies of one AuthConfig are invalid for another with the same key', async () => {
      SECRETS['gw-system.cipher'] = secret({ key: 'k'.repeat(32) });
      const session = { cipherConfig: { keyRef: { name: 'cipher', namespace: 'gw-system' } } };
      const { cookies } = await logIn(inCookies({ session }));
      expect((await enter(inCookies({ session }), cookies)).allowed).to.equal(true);
      expect((await enter(inCookies({ session, clientId: 'other' }), cookies)).allowed).to.equal(false);
      const moved = { session, issuerUrl: 'https://other.example.com' };
      expect((await enter(inCookies(moved), cookies)).allowed).to.equal(false);
    });

    it('valid tokens are checked again when the AuthConfig trusts another issuer or client', async () => {
      const cookies = await tokens();
      expect((await enter(inCookies(), cookies)).allowed).to.equal(true);
      expect((await enter(inCookies({ clientId: 'other' }), cookies)).allowed).to.equal(false);
      const other = await startBadProvider();
      const moved = await enter(inCookies({ issuerUrl: other.issuer }), cookies);
      await other.close();
      expect(moved.allowed).to.equal(false);
    });

    it('tokens of another kind are rejected, whatever their audience', async () => {
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: idp.issuer, sub: 'victim', aud: 'web', iat: now, exp: now + 600 };
      const { access_token } = await tokens();
      const entered = async (more: object, header?: Record<string, string>): Promise<boolean> => {
        const id_token = await idp.sign({ ...claims, ...more }, header);
        return (await enter(inCookies(), tied({ access_token: access_token!, id_token }))).allowed;
      };
      expect(await entered({}, { typ: 'JWT' })).to.equal(true);
      expect(await entered({}, { typ: 'at+jwt' })).to.equal(false);
      expect(await entered({}, { typ: 'application/logout+JWT' })).to.equal(false);
      expect(await entered({ client_id: 'rogue' })).to.equal(false);
      expect(await entered({ azp: 'rogue' })).to.equal(false);
      expect(await entered({ azp: 'web' })).to.equal(true);
    });

    it('an unchecked access token is checked once its claims become headers', async () => {
      const made = [{ alg: 'none' }, { role: 'admin' }, ''].map((part) => Buffer.from(JSON.stringify(part)));
      const access_token = made.map((each) => each.toString('base64url')).join('.');
      const cookies = tied({ id_token: (await tokens()).id_token!, access_token });
      expect((await enter(inCookies(), cookies)).allowed).to.equal(true);
      expect((await enter(inCookies(roleHeader), cookies)).allowed).to.equal(false);
    });

    for (const [whose, accessToken, allowed] of [
      ['of another client', { sub: 'someone', azp: 'rogue' }, false],
      ['of another client, by RFC 9068', { sub: 'someone', client_id: 'rogue' }, false],
      ['of another user', { sub: 'victim' }, false],
      ['of this client, where users have another name', { sub: 'pairwise', azp: 'web' }, true],
      ['of this user', {}, true],
    ] as const) {
      it(`claims of an access token ${whose} ${allowed ? 'become headers' : 'do not'}`, async () => {
        const cookies = await tokens({}, { role: 'admin', ...accessToken });
        expect((await enter(inCookies(roleHeader), cookies)).allowed).to.equal(allowed);
      });
    }
  });
});
