import type { IncomingMessage, ServerResponse } from 'node:http';
import { createContext, type AuthAllowed, type AuthRequest, type Context } from '@edge-gateway/core';
import type { AccessTokenValidation } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { accessTokenMethod } from '../../src/index.ts';
import { guarded, only, secretsOf, start, stopAll } from '../harness.ts';

const NOW = Date.UTC(2026, 0, 1);
const seconds = (offset: number): number => NOW / 1000 + offset;

async function createIssuer(kid: string) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' };
  const sign = (claims: JWTPayload = {}): Promise<string> =>
    new SignJWT({ sub: 'alice', exp: seconds(3600), ...claims })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(privateKey);
  return { jwk, sign, keySet: JSON.stringify({ keys: [jwk] }) };
}

const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } });
const clock = () => {
  let now = NOW;
  const context: Context = createContext({ now: () => now });
  return { context, wait: (ms: number) => void (now += ms) };
};
const settings = { requestTimeout: '30s' };
const answering = (body: unknown) => start((_req, res) => void res.end(JSON.stringify(body)));

const requestWith = (token: string): AuthRequest => ({
  requestId: 'r',
  method: 'GET',
  scheme: 'https',
  host: 'api.example.com',
  path: '/',
  header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
  headers: () => ['authorization', `Bearer ${token}`],
  clientAddress: '127.0.0.1',
  state: {},
  metadata: new Map(),
});

/** What one step grants, seen without a server around it. */
async function grantOf(spec: AccessTokenValidation, token: string): Promise<AuthAllowed> {
  const { context } = clock();
  const decision = await accessTokenMethod.create(spec, { id: 'n.c/step', context }).authorize(requestWith(token));
  if (!decision.allowed) throw new Error(decision.reason);
  return decision;
}

describe('accessTokenValidation, field by field', () => {
  afterEach(stopAll);

  it('jwt.remoteJwks.refreshInterval: keys are fetched again then, and removed keys verify no token', async () => {
    const [old, fresh] = [await createIssuer('k1'), await createIssuer('k2')];
    let keySet = old.keySet;
    let fetched = 0;
    const url = await start((_req, res) => {
      fetched++;
      res.end(keySet);
    });
    const { context, wait } = clock();
    const jwt = { remoteJwks: { url, refreshInterval: '60s' } };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { jwt } } }), { context, settings });
    const token = await old.sign();
    expect((await ask('/', bearer(token))).status).to.equal(200);
    keySet = fresh.keySet;
    wait(59_000);
    expect((await ask('/', bearer(token))).status).to.equal(200);
    expect(fetched).to.equal(1);
    wait(2_000);
    // A slow read is not waited for.
    while ((await ask('/', bearer(token))).status !== 403);
    expect((await ask('/', bearer(await fresh.sign()))).status).to.equal(200);
    expect(fetched).to.equal(2);
  });

  it('jwt.remoteJwks: an unavailable server does not affect tokens with a known key', async () => {
    const [known, unknown] = [await createIssuer('k1'), await createIssuer('k2')];
    let fetched = 0;
    const url = await start((_req, res) => void (++fetched === 1 && res.end(known.keySet)));
    const { context, wait } = clock();
    const step = { oauth2: { accessTokenValidation: { jwt: { remoteJwks: { url } } } } };
    // Less than a read may take.
    const { ask } = await guarded(only(step), { context, settings: { requestTimeout: '4s' } });
    expect((await ask('/', bearer(await known.sign()))).status).to.equal(200);
    wait(301_000);
    const forged = ask('/', bearer(await unknown.sign({ exp: seconds(1000) })));
    const token = await known.sign({ exp: seconds(1000) });
    for (let i = 0; i < 5; i++) expect((await ask('/', bearer(token))).status).to.equal(200);
    expect((await forged).status).to.equal(403);
  });

  it('jwt.remoteJwks: a failing server is not called for every request', async () => {
    const [known, unknown] = [await createIssuer('k1'), await createIssuer('k2')];
    let fetched = 0;
    const url = await start((_req, res) => void (++fetched === 1 ? res.end(known.keySet) : res.writeHead(500).end()));
    const { context, wait } = clock();
    const step = { oauth2: { accessTokenValidation: { jwt: { remoteJwks: { url } } } } };
    const { ask } = await guarded(only(step), { context, settings });
    const token = await known.sign({ exp: seconds(1000) });
    const forged = await unknown.sign({ exp: seconds(1000) });
    expect((await ask('/', bearer(token))).status).to.equal(200);
    for (const [later, times] of [
      [31_000, 2],
      // Once because the keys are too old, and once because of the unknown key id.
      [270_000, 4],
    ] as const) {
      wait(later);
      expect((await ask('/', bearer(forged))).status).to.equal(403);
      for (let i = 0; i < 5; i++) {
        expect((await ask('/', bearer(forged))).status).to.equal(403);
        expect((await ask('/', bearer(token))).status).to.equal(200);
      }
      expect(fetched).to.equal(times);
    }
  });

  it('jwt.remoteJwks: an unknown key id reads them early, but not at every request', async () => {
    const [old, fresh] = [await createIssuer('k1'), await createIssuer('k2')];
    let fetched = 0;
    const url = await start((_req, res) => res.end(++fetched === 1 ? old.keySet : fresh.keySet));
    const { context, wait } = clock();
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { jwt: { remoteJwks: { url } } } } }), {
      context,
      settings,
    });
    await ask('/', bearer(await old.sign()));
    expect((await ask('/', bearer(await fresh.sign()))).status).to.equal(200);
    expect(fetched).to.equal(2);
    const unknown = await (await createIssuer('k3')).sign();
    for (let i = 0; i < 3; i++) expect((await ask('/', bearer(unknown))).status).to.equal(403);
    expect(fetched).to.equal(2);
    wait(31_000);
    for (let i = 0; i < 3; i++) expect((await ask('/', bearer(unknown))).status).to.equal(403);
    expect(fetched).to.equal(3);
  });

  it('jwt: times are checked with a tolerance of 60 s', async () => {
    const { keySet, sign } = await createIssuer('k1');
    const { context } = clock();
    const jwt = { localJwks: { inlineString: keySet } };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { jwt } } }), { context });
    for (const good of [{ exp: seconds(-50) }, { nbf: seconds(50) }, { iat: seconds(50) }]) {
      expect((await ask('/', bearer(await sign(good)))).status, JSON.stringify(good)).to.equal(200);
    }
    for (const bad of [{ exp: seconds(-70) }, { nbf: seconds(70) }, { iat: seconds(70) }]) {
      expect((await ask('/', bearer(await sign(bad)))).status, JSON.stringify(bad)).to.equal(403);
    }
  });

  it('claimsToHeaders: several, appended if `append` is set, and only for JWTs', async () => {
    const { keySet, sign } = await createIssuer('k1');
    const claimsToHeaders = [
      { claim: 'team', header: 'X-Team' },
      { claim: 'tier', header: 'X-Team', append: true },
      { claim: 'roles', header: 'x-roles' },
      { claim: 'constructor', header: 'x-none' },
    ];
    const jwt = { localJwks: { inlineString: keySet } };
    const { context } = clock();
    const config = only({ oauth2: { accessTokenValidation: { jwt, claimsToHeaders } } });
    const got = await (
      await guarded(config, { context })
    ).seen('/', bearer(await sign({ team: 'a', tier: 3, roles: ['x', 'y'] })));
    expect(got).to.include({ 'x-team': 'a, 3', 'x-roles': Buffer.from('["x","y"]').toString('base64') });
    expect(got).not.to.have.property('x-none');
    const url = await answering({ active: true, team: 'a' });
    const asked = only({ oauth2: { accessTokenValidation: { introspectionUrl: url, claimsToHeaders } } });
    expect(await (await guarded(asked)).seen('/', bearer('t'))).not.to.have.property('x-team');
  });

  it('claimsToHeaders: a claim with a line break denies the request', async () => {
    const { keySet, sign } = await createIssuer('k1');
    const claimsToHeaders = [{ claim: 'team', header: 'x-team' }];
    const { context } = clock();
    const jwt = { localJwks: { inlineString: keySet } };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { jwt, claimsToHeaders } } }), { context });
    for (const team of ['a\r\nx-admin: 1', 'a\u0000']) {
      expect(await ask('/', bearer(await sign({ team })))).to.include({ status: 403, body: '' });
    }
    expect((await ask('/', bearer(await sign({ team: 'größe' })))).status).to.equal(200);
  });

  it('dynamicMetadataFromClaims and state: passed to later steps and filters', async () => {
    const { keySet, sign } = await createIssuer('k1');
    const jwt = { localJwks: { inlineString: keySet } };
    const dynamicMetadataFromClaims = { who: 'sub', tags: 'list', none: 'constructor' };
    const granted = await grantOf({ jwt, dynamicMetadataFromClaims }, await sign({ list: [1] }));
    expect(granted.metadata).to.deep.equal({ who: 'alice', tags: [1] });
    expect(granted.state).to.have.keys('jwtAccessToken');
    expect(granted.state?.['jwtAccessToken']).to.include({ sub: 'alice' });
    const introspectionUrl = await answering({ active: true, sub: 'bob' });
    const asked = await grantOf({ introspectionUrl, dynamicMetadataFromClaims }, 'opaque');
    expect(asked).to.deep.include({
      metadata: { who: 'bob' },
      state: { introspection: { active: true, sub: 'bob' } },
      userId: 'bob',
    });
  });

  it('requiredScopes: each one, also of an introspected token', async () => {
    for (const [scope, status] of [
      ['read write', 200],
      ['write', 403],
      [['read', 'write'], 200],
      [7, 403],
      [undefined, 403],
    ] as const) {
      const introspectionUrl = await answering({ active: true, scope });
      const spec = { introspectionUrl, requiredScopes: { scope: ['read', 'write'] } };
      const { ask } = await guarded(only({ oauth2: { accessTokenValidation: spec } }));
      expect((await ask('/', bearer('t'))).status, String(scope)).to.equal(status);
    }
  });

  it('introspection.clientId with disableClientSecret: names the client, without a password', async () => {
    const asked: string[] = [];
    const introspectionUrl = await start((req: IncomingMessage, res: ServerResponse) => {
      let text = '';
      req.on('data', (chunk: Buffer) => (text += chunk.toString()));
      req.on('end', () => {
        asked.push(`${req.method} ${req.headers.authorization} ${text}`);
        res.end('{"active":true}');
      });
    });
    const introspection = { introspectionUrl, clientId: 'me & you', disableClientSecret: true };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: { introspection } } }));
    expect((await ask('/', bearer('a+b'))).status).to.equal(200);
    expect(asked).to.deep.equal(['POST undefined token=a%2Bb&client_id=me+%26+you']);
  });

  it('introspection.clientSecretRef: throws without the secret', async () => {
    const introspection = { introspectionUrl: 'http://127.0.0.1:1', clientId: 'me', clientSecretRef: { name: 'gone' } };
    const parts = { secrets: secretsOf({}) };
    const refused = await guarded(only({ oauth2: { accessTokenValidation: { introspection } } }), parts).catch(
      (error: unknown) => error,
    );
    expect(refused).to.have.property('code', 'ERR_EXTAUTH_CONFIG');
  });

  it('cacheTimeout: responses are cached for this time', async () => {
    let asked = 0;
    const introspectionUrl = await start((_req, res) => {
      asked++;
      res.end('{"active":true}');
    });
    const { context, wait } = clock();
    const spec = { introspectionUrl, cacheTimeout: '10s' };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: spec } }), { context, settings });
    for (const [ms, expected] of [
      [0, 1],
      [9_000, 1],
      [2_000, 2],
    ] as const) {
      wait(ms);
      expect((await ask('/', bearer('t'))).status).to.equal(200);
      expect(asked).to.equal(expected);
    }
    expect((await ask('/', bearer('other'))).status).to.equal(200);
    expect(asked).to.equal(3);
  });

  it('userinfoUrl: the response is the state of later steps; without one the request is denied', async () => {
    const introspectionUrl = await answering({ active: true });
    const userinfoUrl = await start((req, res) => void res.end(JSON.stringify({ who: req.headers.authorization })));
    expect((await grantOf({ introspectionUrl, userinfoUrl }, 't')).state).to.deep.equal({
      introspection: { who: 'Bearer t' },
    });
    const failing = await start((_req, res) => void res.writeHead(401).end('{}'));
    const broken = { introspectionUrl, userinfoUrl: failing };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: broken } }), { settings });
    expect(await ask('/', bearer('t'))).to.include({ status: 403, body: '' });
  });

  it('userinfoUrl: a rejected token is denied with failureModeAllow, a failing server allows the request', async () => {
    const introspectionUrl = await answering({ active: true });
    for (const [status, expected] of [
      [400, 403],
      [401, 403],
      [403, 403],
      [500, 200],
    ] as const) {
      const userinfoUrl = await start((_req, res) => void res.writeHead(status).end('{}'));
      const step = { oauth2: { accessTokenValidation: { introspectionUrl, userinfoUrl } } };
      const { ask } = await guarded(only(step), { settings: { ...settings, failureModeAllow: true } });
      expect((await ask('/', bearer('t'))).status, `userinfo answers ${status}`).to.equal(expected);
    }
  });

  it('userinfoUrl: cached results of a JWT expire with its key', async () => {
    const [old, fresh] = [await createIssuer('k1'), await createIssuer('k2')];
    let keySet = old.keySet;
    const url = await start((req, res) => res.end(req.url === '/keys' ? keySet : '{"sub":"alice"}'));
    const { context, wait } = clock();
    const spec = { jwt: { remoteJwks: { url: `${url}/keys`, refreshInterval: '60s' } }, userinfoUrl: `${url}/user` };
    const { ask } = await guarded(only({ oauth2: { accessTokenValidation: spec } }), { context, settings });
    const token = await old.sign();
    expect((await ask('/', bearer(token))).status).to.equal(200);
    keySet = fresh.keySet;
    wait(61_000);
    while ((await ask('/', bearer(token))).status !== 403);
  });
});
