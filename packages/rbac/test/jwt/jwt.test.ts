import { expect } from 'chai';
import { factsOf, type Handler } from '@edge-gateway/core';
import type { JwtProvider, JwtProviders } from '@edge-gateway/core/schema';
import { jwt, JWT_METADATA, jwtBeforeExtAuthConcern, jwtConcern } from '../../src/index.ts';
import { createIssuer, ISSUER, NOW, seconds, serve, testContext, type Answer, type Issuer } from '../issuer.ts';

describe('jwt', () => {
  let issuer: Issuer;
  let other: Issuer;
  let closing: (() => Promise<void>)[] = [];
  before(async () => {
    issuer = await createIssuer();
    other = await createIssuer('ES256', 'other');
  });
  afterEach(async () => {
    await Promise.all(closing.map((close) => close()));
    closing = [];
  });

  const provider = (more: Partial<JwtProvider> = {}): JwtProvider => ({
    issuer: ISSUER,
    jwks: { local: { key: issuer.keySet } },
    ...more,
  });

  async function start(block: JwtProviders, context = testContext()) {
    const server = await serve(jwt(block, context));
    closing.push(server.close);
    return server;
  }

  async function askWith(token: string, more: Partial<JwtProvider> = {}): Promise<Answer> {
    const server = await start({ providers: { main: provider(more) } });
    return server.ask('/a', { authorization: `Bearer ${token}` });
  }

  it('accepts a valid token and removes it from the upstream request', async () => {
    const answer = await askWith(await issuer.sign());
    expect(answer.status).to.equal(200);
    expect(answer.seen).to.not.have.property('authorization');
  });

  it('returns claims that are immutable, also for later requests with the token', async () => {
    const guard = jwt({ providers: { main: provider() } }, testContext());
    const grab: Handler = (req, res, next) =>
      guard(req, res, (error) => {
        const facts = factsOf(req);
        const copies = [facts.claims.get('main'), facts.metadata.get(JWT_METADATA)?.['main']] as { roles: string[] }[];
        for (const claims of copies) {
          expect(() => claims.roles.push('admin')).to.throw(TypeError);
          expect(() => Object.assign(claims, { sub: 'root' })).to.throw(TypeError);
        }
        next(error);
      });
    const server = await serve(grab);
    closing.push(server.close);
    const token = await issuer.sign({ roles: ['user'] });
    for (let i = 0; i < 2; i++)
      expect((await server.ask('/a', { authorization: `Bearer ${token}` })).status).to.equal(200);
  });

  it('keeps the token with keepToken', async () => {
    const token = await issuer.sign();
    expect((await askWith(token, { keepToken: true })).seen.authorization).to.equal(`Bearer ${token}`);
  });

  it('returns 401 with a challenge that has no error when the token is missing', async () => {
    const server = await start({ providers: { main: provider() } });
    const answer = await server.ask('/a?b=c');
    expect(answer).to.include({
      status: 401,
      body: 'Jwt is missing',
      authenticate: 'Bearer realm="http://api.test/a?b=c"',
    });
  });

  it('treats a preflight like any other request: CORS runs first', async () => {
    const server = await start({ providers: { main: provider() } });
    expect((await server.ask('/', { origin: 'https://a.test' }, 'OPTIONS')).status).to.equal(401);
  });

  for (const [what, claims, status, body] of [
    ['is expired', { exp: seconds(-61) }, 401, 'Jwt is expired'],
    ['is not valid yet', { nbf: seconds(61) }, 401, 'Jwt not yet valid'],
    ['is of another issuer', { iss: 'https://else.test/' }, 401, 'Jwt issuer is not configured'],
    ['is for another audience', { aud: 'else' }, 403, 'Audiences in Jwt are not allowed'],
    ['has no audience', {}, 403, 'Audiences in Jwt are not allowed'],
  ] as const) {
    it(`rejects a token that ${what}`, async () => {
      const answer = await askWith(await issuer.sign(claims), { audiences: ['mine'] });
      expect(answer).to.include({ status: claims && 'aud' in claims ? 403 : status, body });
      expect(answer.authenticate).to.equal('Bearer realm="http://api.test/a", error="invalid_token"');
    });
  }

  for (const [what, claims] of [
    ['expired less than the skew ago', { exp: seconds(-59) }],
    ['valid in less than the skew', { nbf: seconds(59) }],
    ['without an expiry', { exp: undefined }],
  ] as const) {
    it(`accepts a token ${what}`, async () => {
      expect((await askWith(await issuer.sign(claims))).status).to.equal(200);
    });
  }

  for (const [skew, claims, status] of [
    [0, { exp: seconds(-1) }, 401],
    [0, { nbf: seconds(1) }, 401],
    [0, { exp: seconds(0) }, 200],
    [300, { exp: seconds(-299) }, 200],
    [300, { nbf: seconds(299) }, 200],
    [300, { exp: seconds(-301) }, 401],
  ] as const) {
    it(`returns ${status} for ${JSON.stringify(claims)} at ${seconds()} with clockSkewSeconds ${skew}`, async () => {
      expect((await askWith(await issuer.sign(claims), { clockSkewSeconds: skew })).status).to.equal(status);
    });
  }

  it('accepts any issuer and audience if none is configured', async () => {
    const main = { jwks: { local: { key: issuer.keySet } } };
    const server = await start({ providers: { main } });
    const token = await issuer.sign({ iss: 'https://anybody.test', aud: 'anything' });
    expect((await server.ask('/', { authorization: `Bearer ${token}` })).status).to.equal(200);
  });

  it('compares audiences without scheme and slash at the end', async () => {
    for (const aud of ['https://api.test/', 'api.test', ['else', 'http://api.test']]) {
      expect(
        (await askWith(await issuer.sign({ aud }), { audiences: ['https://api.test'] })).status,
        String(aud),
      ).to.equal(200);
    }
  });

  it('finds tokens in headers with a prefix, in the query, and nowhere else', async () => {
    const token = await issuer.sign();
    const server = await start({
      providers: {
        main: provider({ tokenSource: { headers: [{ header: 'X-Token', prefix: 'T=' }], queryParams: ['token'] } }),
      },
    });
    expect((await server.ask('/', { 'x-token': `T=${token}` })).status).to.equal(200);
    expect((await server.ask('/', { 'x-token': token })).body).to.equal('Jwt is missing');
    expect((await server.ask('/', { authorization: `Bearer ${token}` })).body).to.equal('Jwt is missing');
    const viaQuery = await server.ask(`/p?a=1&token=${token}&b=%20`);
    expect(viaQuery).to.include({ status: 200, path: '/p?a=1&b=%20' });
  });

  it('requires every token of a provider to be valid', async () => {
    const server = await start({ providers: { main: provider() } });
    const token = await issuer.sign();
    const bad = await server.ask(`/?access_token=${await issuer.sign({ exp: seconds(-100) })}`, {
      authorization: `Bearer ${token}`,
    });
    expect(bad.body).to.equal('Jwt is expired');
    expect((await server.ask(`/?access_token=${token}`, { authorization: `Bearer ${token}` })).status).to.equal(200);
  });

  it('accepts a token of any of several providers, and verifies it with its own provider', async () => {
    const second = provider({ issuer: 'https://second.test', jwks: { local: { key: other.keySet } } });
    const server = await start({ providers: { main: provider(), second } });
    const ask = (token: string) => server.ask('/', { authorization: `Bearer ${token}` });
    expect((await ask(await issuer.sign())).status).to.equal(200);
    expect((await ask(await other.sign({ iss: 'https://second.test' }))).status).to.equal(200);
    expect((await ask(await other.sign())).body).to.equal("Jwks doesn't have key to match kid or alg from Jwt");
    expect((await ask(await other.sign({ iss: 'https://second.test', exp: seconds(-100) }))).body).to.equal(
      'Jwt is expired',
    );
  });

  it('uses the scheme that a trusted proxy sends', async () => {
    const server = await start({ providers: { main: provider() } });
    const { authenticate } = await server.ask('/a', { 'x-forwarded-proto': 'https' });
    expect(authenticate).to.equal('Bearer realm="https://api.test/a"');
  });

  it('never shows a token in the challenge', async () => {
    const token = await issuer.sign({ exp: seconds(-100) });
    const server = await start({ providers: { main: provider() } });
    const answer = await server.ask(`/a?access_token=${token}&b="c`);
    expect(answer.authenticate).to.equal('Bearer realm="http://api.test/a?b=%22c", error="invalid_token"');
  });

  describe('claims to headers', () => {
    const claimsToHeaders = [
      { claim: 'email', header: 'X-Email' },
      { claim: 'address.city', header: 'x-city' },
      { claim: 'roles', header: 'x-roles' },
      { claim: 'age', header: 'x-age' },
      { claim: 'email', header: 'x-all', append: true },
    ];

    it('copies text, numbers, nested and list claims', async () => {
      const token = await issuer.sign({
        email: 'jürgen@example.com',
        address: { city: 'Köln' },
        roles: ['a', 'b'],
        age: 42,
      });
      const { seen } = await askWith(token, { claimsToHeaders });
      const utf8 = (text: string) => Buffer.from(text).toString('latin1');
      expect(seen).to.include({ 'x-email': utf8('jürgen@example.com'), 'x-city': utf8('Köln'), 'x-age': '42' });
      expect(JSON.parse(Buffer.from(seen['x-roles']!, 'base64').toString())).to.deep.equal(['a', 'b']);
    });

    it('append to or replace values of other claims', async () => {
      const token = await issuer.sign({ one: '1', two: '2' });
      const both = (append: boolean) => [
        { claim: 'one', header: 'x-both', append },
        { claim: 'two', header: 'x-both', append },
      ];
      expect((await askWith(token, { claimsToHeaders: both(true) })).seen['x-both']).to.equal('1, 2');
      expect((await askWith(token, { claimsToHeaders: both(false) })).seen['x-both']).to.equal('2');
    });

    it("always removes a client's own copies, in every spelling, also when the claim or the token is missing", async () => {
      const server = await start({
        providers: { main: provider({ claimsToHeaders }) },
        validationPolicy: 'ALLOW_MISSING',
      });
      const forged = { 'X-Email': 'forged', x_email: 'forged', X_EMAIL: 'forged', 'x-all': 'forged' };
      for (const headers of [forged, { ...forged, authorization: `Bearer ${await issuer.sign()}` }]) {
        const { status, seen } = await server.ask('/', headers);
        expect(status).to.equal(200);
        expect(JSON.stringify(seen)).to.not.include('forged');
      }
    });

    it('selects the route again when a header was added or removed', async () => {
      const inner = jwtConcern.compile(
        { providers: { main: provider({ claimsToHeaders }) }, validationPolicy: 'ALLOW_MISSING' },
        testContext(),
      )!;
      const show: Handler = (req, res) => res.end(JSON.stringify({ headers: {}, path: factsOf(req).reroute }));
      const server = await serve(inner, show);
      closing.push(server.close);
      const reroutes = async (headers: Record<string, string>) => (await server.ask('/', headers)).path as unknown;
      expect(await reroutes({})).to.equal(false);
      expect(await reroutes({ 'x-email': 'forged' })).to.equal(true);
      expect(await reroutes({ authorization: `Bearer ${await issuer.sign({})}` })).to.equal(false);
      expect(await reroutes({ authorization: `Bearer ${await issuer.sign({ email: 'a@b' })}` })).to.equal(true);
    });

    it('rejects a claim that would inject a header', async () => {
      const { status, seen } = await askWith(await issuer.sign({ email: 'a\r\nx-admin: true' }), { claimsToHeaders });
      expect(status).to.equal(200);
      expect(seen).to.not.have.any.keys('x-email', 'x-admin');
    });
  });

  describe('validation policies', () => {
    for (const [policy, missing, failed] of [
      ['REQUIRE_VALID', 401, 401],
      ['ALLOW_MISSING', 200, 401],
      ['ALLOW_MISSING_OR_FAILED', 200, 200],
    ] as const) {
      it(`${policy}: ${missing} without a token, ${failed} with an invalid one`, async () => {
        const server = await start({ providers: { main: provider() }, validationPolicy: policy });
        expect((await server.ask('/')).status).to.equal(missing);
        const bad = await server.ask('/', { authorization: 'Bearer a.b.c' });
        expect(bad.status).to.equal(failed);
        if (failed === 200) expect(bad.seen.authorization).to.equal('Bearer a.b.c');
      });
    }

    it('the deprecated switch overrides the policy', async () => {
      const server = await start({
        providers: { main: provider() },
        validationPolicy: 'REQUIRE_VALID',
        allowMissingOrFailedJwt: true,
      });
      expect((await server.ask('/')).status).to.equal(200);
    });
  });

  it('checks the time of a cached token at every request', async () => {
    let now = NOW;
    const server = await start({ providers: { main: provider() } }, testContext({ now: () => now }));
    const headers = { authorization: `Bearer ${await issuer.sign({ exp: seconds(60) })}` };
    expect((await server.ask('/', headers)).status).to.equal(200);
    expect((await server.ask('/', headers)).status).to.equal(200);
    now = NOW + 121_000;
    expect((await server.ask('/', headers)).body).to.equal('Jwt is expired');
  });

  it('verifies a repeated token once', async () => {
    const context = testContext();
    const server = await start({ providers: { main: provider() } }, context);
    const headers = { authorization: `Bearer ${await issuer.sign()}` };
    for (let i = 0; i < 5; i++) await server.ask('/', headers);
    const stat = (name: string) =>
      context.metrics.list().find(({ name: { path } }) => path === `http.http.jwt_authn.${name}`)!.stat as {
        value: number;
      };
    expect(stat('jwt_cache_miss').value).to.equal(1);
    expect(stat('jwt_cache_hit').value).to.equal(4);
  });

  for (const [cacheDuration, pauseMs, fetches] of [
    [undefined, 200_000, 1],
    ['1s', 1_500, 2],
    ['30m', 1_000_000, 1],
  ] as const) {
    it(`fetches keys ${fetches} times within ${pauseMs} ms with cacheDuration ${cacheDuration}`, async () => {
      let now = NOW;
      const asked: string[] = [];
      const context = testContext({
        now: () => now,
        callUpstream: async ({ name, namespace }, { path, headers }) => {
          asked.push(`${namespace}/${name} ${headers?.[1]} ${path}`);
          return { status: 200, headers: {}, body: Buffer.from(issuer.keySet) };
        },
      });
      const upstreamRef = { name: 'idp', namespace: 'shop' };
      const remote = { url: 'http://keys.test/jwks?a=1', upstreamRef, ...(cacheDuration && { cacheDuration }) };
      const server = await start({ providers: { main: provider({ jwks: { remote } }) } }, context);
      for (const jti of ['a', 'b']) {
        const token = await issuer.sign({ jti, exp: seconds(10_000) });
        expect((await server.ask('/', { authorization: `Bearer ${token}` })).status).to.equal(200);
        now += pauseMs;
      }
      expect(asked).to.deep.equal(Array(fetches).fill('shop/idp keys.test /jwks?a=1'));
    });
  }

  it('fetches keys before the first request only with asyncFetch, and delays listeners, except with fastListener', async () => {
    for (const [asyncFetch, held, fetches] of [
      [undefined, [], 0],
      [{}, ['key set of JWT provider main: true'], 1],
      [{ fastListener: false }, ['key set of JWT provider main: true'], 1],
      [{ fastListener: true }, [], 1],
    ] as const) {
      let count = 0;
      const waited: Promise<string>[] = [];
      const context = testContext({
        callUpstream: async () => {
          count++;
          return { status: 200, headers: {}, body: Buffer.from(issuer.keySet) };
        },
        holdListeners: (what, ready) => waited.push(ready.then((isThere) => `${what}: ${isThere}`)),
      });
      const upstreamRef = { name: 'idp', namespace: 'shop' };
      const remote = { url: 'http://keys.test/jwks', upstreamRef, ...(asyncFetch && { asyncFetch }) };
      jwtConcern.compile({ providers: { main: provider({ jwks: { remote } }) } }, context);
      expect(await Promise.all(waited)).to.deep.equal(held);
      expect(count).to.equal(fetches);
    }
  });

  it('reads the token that an earlier concern set as a header, not that of the client', async () => {
    const good = await issuer.sign();
    const main = provider({ tokenSource: { headers: [{ header: 'jwt' }] } });
    const early: Handler = (req, _res, next) => {
      factsOf(req).requestChanges.push({ op: 'set', name: 'jwt', value: good });
      next();
    };
    const inner = jwtConcern.compile({ providers: { main } }, testContext())!;
    const server = await serve(early, inner);
    closing.push(server.close);
    expect((await server.ask('/', { jwt: 'forged.by.client' })).status).to.equal(200);
    const removing: Handler = (req, _res, next) => {
      factsOf(req).requestChanges.push({ op: 'remove', name: 'jwt' });
      next();
    };
    const without = await serve(removing, inner);
    closing.push(without.close);
    expect((await without.ask('/', { jwt: good })).body).to.equal('Jwt is missing');
  });

  it('keeps a header that carried no token', async () => {
    const server = await start({ providers: { main: provider() } });
    const { seen } = await server.ask(`/?access_token=${await issuer.sign()}`, { authorization: 'Basic dTpw' });
    expect(seen.authorization).to.equal('Basic dTpw');
  });

  it('requires both stages to pass, each with its own token and claims', async () => {
    const context = testContext();
    const before = { providers: { outer: provider({ tokenSource: { headers: [{ header: 'x-outer' }] } }) } };
    const behind = { providers: { inner: provider({ jwks: { local: { key: other.keySet } } }) } };
    const claims: Handler = (req, res) =>
      res.end(JSON.stringify({ headers: {}, path: [...factsOf(req).claims.keys()] }));
    const server = await serve(
      jwtBeforeExtAuthConcern.compile(before, context)!,
      jwtConcern.compile(behind, context)!,
      claims,
    );
    closing.push(server.close);
    const outer = await issuer.sign();
    const inner = `Bearer ${await other.sign()}`;
    expect((await server.ask('/', { 'x-outer': outer, authorization: inner })).path).to.deep.equal(['outer', 'inner']);
    expect((await server.ask('/', { 'x-outer': outer })).body).to.equal('Jwt is missing');
    expect((await server.ask('/', { authorization: inner })).body).to.equal('Jwt is missing');
  });

  it('adds code and text of a failure to the metadata, under the configured key', async () => {
    const main = provider({ attachFailedStatusToMetadata: 'why', audiences: ['mine'] });
    const inner = jwtConcern.compile(
      { providers: { main }, validationPolicy: 'ALLOW_MISSING_OR_FAILED' },
      testContext(),
    )!;
    const show: Handler = (req, res) =>
      res.end(JSON.stringify({ headers: {}, path: factsOf(req).metadata.get(JWT_METADATA) }));
    const server = await serve(inner, show);
    closing.push(server.close);
    const ask = async (claims: Record<string, unknown>) =>
      (await server.ask('/', { authorization: `Bearer ${await issuer.sign(claims)}` })).path as unknown;
    expect(await ask({ exp: seconds(-100) })).to.deep.equal({ why: { code: 3, message: 'Jwt is expired' } });
    expect(await ask({ aud: 'else' })).to.deep.equal({
      why: { code: 25, message: 'Audiences in Jwt are not allowed' },
    });
  });

  it('responds to HEAD with the same head and no body', async () => {
    const server = await start({ providers: { main: provider() } });
    const answer = await server.ask('/', {}, 'HEAD');
    expect(answer).to.include({ status: 401, body: '', authenticate: 'Bearer realm="http://api.test/"' });
  });

  it('rejects an invalid claim header at compile time', () => {
    for (const claimsToHeaders of [[{ claim: 'a' }], [{ header: 'a' }], [{ claim: 'a', header: 'a b' }]]) {
      expect(() => jwt({ providers: { main: provider({ claimsToHeaders }) } })).to.throw('provider main');
    }
    const remote = { url: 'no url', upstreamRef: { name: 'a', namespace: 'b' } };
    expect(() => jwt({ providers: { main: { jwks: { remote } } } })).to.throw('jwks.remote.url');
  });
});
