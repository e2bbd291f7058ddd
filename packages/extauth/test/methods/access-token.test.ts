import type { IncomingMessage, ServerResponse } from 'node:http';
import { createContext } from '@edge-gateway/core';
import type { AccessTokenValidation } from '@edge-gateway/core/schema';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { accessTokenMethod } from '../../src/methods/access-token.ts';
import { MAX_CALLS } from '../../src/token/lookup.ts';
import { askFrom, guarded, only, secretsOf, start, stopAll, type GuardedParts } from '../harness.ts';

const NOW = Date.UTC(2026, 0, 1);
const seconds = (offset: number): number => NOW / 1000 + offset;

async function createIssuer(kid = 'k1') {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' };
  const sign = (claims: JWTPayload = {}, header: Record<string, unknown> = {}): Promise<string> =>
    new SignJWT({ iss: 'me', aud: 'api', sub: 'alice', scope: 'read write', exp: seconds(600), ...claims })
      .setProtectedHeader({ alg: 'RS256', kid, ...header })
      .sign(privateKey);
  return { jwk, sign, keySet: JSON.stringify({ keys: [jwk] }) };
}

const token = (spec: AccessTokenValidation, parts: GuardedParts = {}) => {
  const context = createContext({ now: () => NOW, ...(parts.secrets && { secrets: parts.secrets }) });
  return guarded(only({ oauth2: { accessTokenValidation: spec } }), { context, ...parts });
};
const bearer = (text: string) => ({ headers: { authorization: `Bearer ${text}` } });

async function formOf(req: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return new URLSearchParams(text);
}

describe('accessTokenValidation by signature', () => {
  afterEach(stopAll);

  it('allows a valid token from the header or the query, and copies its claims', async () => {
    const { keySet, sign } = await createIssuer();
    const { seen } = await token({
      jwt: { localJwks: { inlineString: keySet }, issuer: 'me', audiences: ['api', 'other'] },
      requiredScopes: { scope: ['read'] },
      claimsToHeaders: [
        { claim: 'email', header: 'X-Email' },
        { claim: 'none', header: 'X-None' },
      ],
    });
    const good = await sign({ email: 'a@example.com' });
    const forged = { 'x-email': 'admin@example.com', 'x-none': 'forged' };
    const got = await seen('/', { headers: { ...bearer(good).headers, ...forged } });
    expect(got).to.include({ 'x-email': 'a@example.com', 'x-user-id': 'alice' });
    expect(got).not.to.have.property('x-none');
    expect((await seen(`/?access_token=${good}`))['x-email']).to.equal('a@example.com');
  });

  it('returns 403 with an empty body otherwise', async () => {
    const { keySet, sign, jwk } = await createIssuer();
    const stranger = await createIssuer();
    const { ask } = await token({
      jwt: { localJwks: { inlineString: keySet }, issuer: 'me', audiences: ['api'] },
      requiredScopes: { scope: ['read'] },
    });
    const good = await sign();
    const secret = new TextEncoder().encode(JSON.stringify(jwk));
    const bad: Record<string, string> = {
      expired: await sign({ exp: seconds(-61) }),
      early: await sign({ nbf: seconds(61) }),
      future: await sign({ iat: seconds(61) }),
      issuer: await sign({ iss: 'you' }),
      audience: await sign({ aud: ['them'] }),
      scope: await sign({ scope: 'readonly write' }),
      'unknown key': await sign({}, { kid: 'k2' }),
      'no key id': await sign({}, { kid: '' }),
      crit: await sign({}, { crit: ['x'], x: 1 }).catch(() => 'a.b.c'),
      stranger: await stranger.sign(),
      'key as secret': await new SignJWT({ iss: 'me', aud: 'api' })
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .sign(secret),
      none: new UnsecuredJWT({ iss: 'me', aud: 'api', scope: 'read' }).encode(),
      cut: good.slice(0, -4),
      text: 'abc',
      large: `${good}${'a'.repeat(20_000)}`,
    };
    for (const [what, text] of Object.entries(bad)) {
      const answer = await ask('/', { headers: { authorization: `Bearer ${text}` } }).catch(() => ({
        status: 403,
        body: '',
      }));
      expect([403, 431], what).to.include(answer.status);
      if (answer.status === 403) expect(answer.body, what).to.equal('');
    }
    for (const authorization of ['Bearer', `Bearer ${good}, Bearer ${good}`, `bearer  x y`, `Basic ${good}`]) {
      expect((await ask('/', { headers: { authorization } })).status, authorization).to.equal(403);
    }
    expect((await ask(`/?access_token=${good}&access_token=${good}`)).status).to.equal(403);
    for (const also of [good, 'x', '']) {
      expect((await ask(`/?access_token=${also}`, bearer(good))).status, `in header and query: ${also}`).to.equal(403);
    }
    expect((await ask()).status).to.equal(403);
    expect((await ask('/', bearer(good))).status).to.equal(200);
  });

  it('rejects tokens of another kind', async () => {
    const { keySet, sign } = await createIssuer();
    const { ask } = await token({ jwt: { localJwks: { inlineString: keySet } } });
    const statusOf = async (claims: JWTPayload, header: object) =>
      (await ask('/', bearer(await sign(claims, { ...header })))).status;
    for (const typ of [
      'logout+jwt',
      'application/logout+jwt',
      'secevent+jwt',
      'dpop+jwt',
      'id_token',
      'xat+jwt',
      '',
      7,
    ])
      expect(await statusOf({}, { typ }), String(typ)).to.equal(403);
    for (const typ of ['ID', 'Refresh', 'Offline', 'Logout'])
      expect(await statusOf({ typ }, {}), `claim ${typ}`).to.equal(403);
    expect(await statusOf({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }, {})).to.equal(403);
    for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/at+jwt', 'AT+JWT', 'okta-internal-at+jwt'])
      expect(await statusOf({}, { typ }), typ).to.equal(200);
    expect(await statusOf({ typ: 'Bearer' }, {})).to.equal(200);
  });

  it('ignores keys without id and keys for other uses', async () => {
    const { jwk, sign } = await createIssuer();
    const good = await sign();
    for (const key of [
      { ...jwk, use: 'enc' },
      { ...jwk, use: undefined },
      { ...jwk, kid: undefined },
      { ...jwk, alg: 'RS512' },
    ]) {
      const { ask } = await token({ jwt: { localJwks: { inlineString: JSON.stringify({ keys: [key] }) } } });
      expect((await ask('/', bearer(good))).status).to.equal(403);
    }
  });

  it('fetches a remote key set once for many requests, and returns 403 when it is unavailable', async () => {
    const { keySet, sign } = await createIssuer();
    let fetched = 0;
    const url = await start((_req, res) => {
      fetched++;
      res.end(keySet);
    });
    const { ask } = await token({ jwt: { remoteJwks: { url } } });
    const good = await sign();
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('/', bearer(good))));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 10 }, () => 200));
    expect(fetched).to.equal(1);
    for (const body of ['garbage', '{}', '{"keys":1}']) {
      const bad = await start((_req, res) => void res.end(body));
      expect((await (await token({ jwt: { remoteJwks: { url: bad } } })).ask('/', bearer(good))).status).to.equal(403);
    }
  });

  it('throws for an invalid key set', async () => {
    const refused = await token({ jwt: { localJwks: { inlineString: 'x' } } }).catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'ERR_EXTAUTH_CONFIG');
  });
});

describe('accessTokenValidation by introspection', () => {
  afterEach(stopAll);

  it('sends the client credentials, reads the user from the response, and caches it', async () => {
    const asked: string[] = [];
    const url = await start((req, res) => {
      void formOf(req).then((form) => {
        asked.push(`${req.headers.authorization} ${form.get('token')}`);
        res.end(JSON.stringify({ active: true, username: 'alice', scope: 'read', exp: seconds(60) }));
      });
    });
    const clientSecretRef = { name: 'client', namespace: 'n' };
    const { seen } = await token(
      { introspection: { introspectionUrl: url, clientId: 'me', clientSecretRef, userIdAttributeName: 'username' } },
      { secrets: secretsOf({ client: { 'client-secret': 's:1' } }) },
    );
    for (let i = 0; i < 3; i++) expect((await seen('/', bearer('opaque')))['x-user-id']).to.equal('alice');
    expect(asked).to.deep.equal([`Basic ${Buffer.from('me:s%3A1').toString('base64')} opaque`]);
  });

  it('looks up the tokens of one client while another sends invalid tokens', async () => {
    let answer = (_res: ServerResponse): void => {};
    const introspectionUrl = await start((req, res) => answer((req.resume(), res)));
    const method = accessTokenMethod.create(
      { introspection: { introspectionUrl } },
      { id: 'n.c/a', context: createContext() },
    );
    const ask = (text: string, address: string) => askFrom(method, address, { authorization: `Bearer ${text}` });
    const waiting = Array.from({ length: MAX_CALLS }, (_, i) =>
      Promise.resolve(ask(`t${i}`, '192.0.2.1')).catch(() => {}),
    );
    answer = (res) => void res.end('{"active":true,"sub":"alice"}');
    expect(await ask('good', '192.0.2.2')).to.include({ allowed: true, userId: 'alice' });
    await stopAll();
    await Promise.all(waiting);
  });

  it('rejects inactive tokens and responses without the user', async () => {
    for (const answer of [{ active: false }, { active: 'true' }, {}, { active: true }, { active: true, username: 7 }]) {
      const url = await start((_req, res) => void res.end(JSON.stringify(answer)));
      const { ask } = await token({ introspection: { introspectionUrl: url, userIdAttributeName: 'username' } });
      expect(await ask('/', bearer('t')), JSON.stringify(answer)).to.include({ status: 403, body: '' });
    }
  });

  it('caches a response until the token expires, at most for cacheTimeout', async () => {
    let asked = 0;
    let now = NOW;
    const url = await start((_req, res) => {
      asked++;
      res.end(JSON.stringify({ active: true, exp: seconds(30) }));
    });
    const context = createContext({ now: () => now });
    const parts = { introspectionUrl: url };
    const { ask } = await token(parts, { context });
    expect((await ask('/', bearer('t'))).status).to.equal(200);
    now += 29_000;
    expect((await ask('/', bearer('t'))).status).to.equal(200);
    expect(asked).to.equal(1);
    now += 2_000;
    expect((await ask('/', bearer('t'))).status).to.equal(403);
    expect(asked).to.equal(2);
    const never = await token({ ...parts, cacheTimeout: '0s' });
    await never.ask('/', bearer('t'));
    await never.ask('/', bearer('t'));
    expect(asked).to.equal(4);
  });

  it('returns 403 when the server is down, slow, redirects, or sends an invalid response', async () => {
    const slow = await start(() => {});
    const garbage = await start((_req, res) => void res.end('<html>'));
    const failing = await start((_req, res) => void res.writeHead(500).end('{"active":true}'));
    const elsewhere = await start((_req, res) => void res.writeHead(302, { location: garbage }).end());
    const huge = await start((_req, res) => void res.end(`{"active":true,"x":"${'x'.repeat(300_000)}"}`));
    for (const url of ['http://127.0.0.1:1', slow, garbage, failing, elsewhere, huge]) {
      const { ask } = await token({ introspectionUrl: url }, { settings: { requestTimeout: '50ms' } });
      expect(await ask('/', bearer('t')), url).to.include({ status: 403, body: '' });
    }
  });

  it('reads the user info if userinfoUrl is set', async () => {
    const url = await start((req, res) => {
      if (req.url === '/user') res.end(JSON.stringify({ who: req.headers.authorization }));
      else res.end('{"active":true}');
    });
    const { ask } = await token({ introspectionUrl: url, userinfoUrl: `${url}/user` });
    expect((await ask('/', bearer('t'))).status).to.equal(200);
  });
});
