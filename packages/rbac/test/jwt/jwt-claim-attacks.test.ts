import { expect } from 'chai';
import { exportJWK, SignJWT, type JWK } from 'jose';
import { jwt } from '../../src/index.ts';
import { CLAIMS } from '../../../core/test/security/jwt/attack-contract.ts';
import { createArena, providerWith, type Arena } from './arena.ts';
import { createIssuer, ISSUER, seconds, serve, testContext, type Issuer } from '../issuer.ts';

/** The catalogue of attacks by the claims of tokens, by several of them, and by keys. */
describe('attacks by the claims of tokens', () => {
  let arena: Arena;
  let rsa: Issuer;
  let ec: Issuer;
  let attacker: Issuer;
  before(async () => {
    arena = await createArena();
    ({ rsa, ec, attacker } = arena);
  });
  after(() => arena.close());
  const refused: Arena['refused'] = (...sent) => arena.refused(...sent);
  const signed: Arena['signed'] = (...asked) => arena.signed(...asked);

  for (const [exp, reason] of [
    ['1.5', 'Jwt is expired'],
    ['"1"', 'Jwt payload [exp] field is not an integer'],
    ['1e400', 'Jwt payload is an invalid JSON'],
  ])
    it(`exp ${exp}`, () => refused(signed({ alg: 'RS256', kid: 'rsa' }, `{"iss":"${ISSUER}","exp":${exp}}`), reason));

  for (const aud of ['api', 'api.test.evil', 'xapi.test', 'API.TEST', ['else'], 'api.test/path']) {
    it(`audience ${JSON.stringify(aud)} is not api.test`, async () => {
      const strict = await serve(
        jwt({ providers: { main: { ...providerWith(rsa.jwk), audiences: ['api.test'] } } }, testContext()),
      );
      try {
        expect((await strict.ask('/', { authorization: `Bearer ${await rsa.sign({ aud })}` })).status).to.equal(403);
      } finally {
        await strict.close();
      }
    });
  }

  for (const typ of ['logout+jwt', 'LOGOUT+JWT', 'application/logout+jwt', 'secevent+jwt', 'dpop+jwt']) {
    it(`typ ${typ}`, () => refused(signed({ alg: 'RS256', kid: 'rsa', typ }), 'Jwt verification fails'));
  }
  it('a signed ID token for another client of the same identity provider', async () => {
    const api = await serve(
      jwt({ providers: { main: { ...providerWith(rsa.jwk), audiences: ['api'] } } }, testContext()),
    );
    try {
      const idToken = await rsa.sign({ aud: 'shop', azp: 'api', nonce: 'n' }, { typ: 'JWT' });
      const answer = await api.ask('/', { authorization: `Bearer ${idToken}` });
      expect(answer).to.include({ status: 403, body: 'Audiences in Jwt are not allowed' });
    } finally {
      await api.close();
    }
  });
  it('two conflicting tokens, in header and cookie', async () => {
    const headers = [
      { header: 'authorization', prefix: 'Bearer ' },
      { header: 'cookie', prefix: 'jwt=' },
    ];
    const both = await serve(
      jwt({ providers: { main: { ...providerWith(rsa.jwk), tokenSource: { headers } } } }, testContext()),
    );
    try {
      const good = await rsa.sign();
      const forged = signed({ alg: 'RS256', kid: 'rsa' }, CLAIMS, attacker);
      for (const [bearer, cookie, status] of [
        [good, good, 200],
        [good, forged, 401],
        [forged, good, 401],
      ] as const) {
        const answer = await both.ask('/', { authorization: `Bearer ${bearer}`, cookie: `jwt=${cookie}` });
        expect(answer.status).to.equal(status);
      }
    } finally {
      await both.close();
    }
  });
  it('two conflicting Authorization headers', async () => {
    const good = `Bearer ${await rsa.sign()}`;
    const forged = `Bearer ${signed({ alg: 'RS256', kid: 'rsa' }, CLAIMS, attacker)}`;
    expect(await arena.judge('authorization', good, 'Authorization', good)).to.equal(undefined);
    expect(await arena.judge('authorization', good, 'Authorization', forged)).to.equal('Jwt verification fails');
    expect(await arena.judge('authorization', forged, 'authorization', good)).to.equal('Jwt verification fails');
  });
  it('two conflicting tokens, in header and query', async () => {
    const answer = await arena.ask(
      await rsa.sign(),
      `/?access_token=${signed({ alg: 'RS256', kid: 'rsa' }, CLAIMS, attacker)}`,
    );
    expect(answer.status).to.equal(401);
  });
  it('a flood of unknown kids causes two fetches', async () => {
    let fetches = 0;
    const callUpstream = async () => {
      fetches++;
      return { status: 200, headers: {}, body: Buffer.from(rsa.keySet) };
    };
    const remote = { url: 'http://keys.test/jwks', upstreamRef: { name: 'idp', namespace: 'gw-system' } };
    const flooded = await serve(
      jwt({ providers: { main: { issuer: ISSUER, jwks: { remote } } } }, testContext({ callUpstream })),
    );
    try {
      const flood = Array.from({ length: 500 }, (_, i) => signed({ alg: 'RS256', kid: `k${i}` }, CLAIMS, attacker));
      const answers = await Promise.all(flood.map((token) => flooded.ask('/', { authorization: `Bearer ${token}` })));
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([401]));
      expect(fetches).to.equal(2);
      expect((await flooded.ask('/', { authorization: `Bearer ${await rsa.sign()}` })).status).to.equal(200);
    } finally {
      await flooded.close();
    }
  });

  it('missing exp and iat in the future are accepted: neither is required', async () => {
    for (const claims of [{ exp: undefined }, { iat: seconds(3600) }]) {
      const answer = await arena.ask(await rsa.sign(claims));
      expect(answer.status).to.equal(200);
    }
  });
  for (const [what, claims, body] of [
    ['nbf one second outside the skew', { nbf: seconds(61) }, 'Jwt not yet valid'],
    ['exp one second outside the skew', { exp: seconds(-61) }, 'Jwt is expired'],
  ] as const) {
    it(what, async () => refused(await rsa.sign(claims), body));
  }
  for (const [what, claims] of [
    ['nbf just inside the skew', { nbf: seconds(60) }],
    ['exp just inside the skew', { exp: seconds(-60) }],
  ] as const) {
    it(`${what} is accepted`, async () => {
      const answer = await arena.ask(await rsa.sign(claims));
      expect(answer.status).to.equal(200);
    });
  }

  describe('key sets', () => {
    const askWith = async (keys: JWK[], token: string) => {
      const own = await serve(jwt({ providers: { main: providerWith(...keys) } }, testContext()));
      try {
        return await own.ask('/', { authorization: `Bearer ${token}` });
      } finally {
        await own.close();
      }
    };
    it('a key for encryption does not verify', async () => {
      const answer = await askWith([{ ...rsa.jwk, use: 'enc' }, ec.jwk], await rsa.sign());
      expect(answer.body).to.match(/^Jwks doesn't have key/);
    });
    it('a key without the operation "verify" does not verify', async () => {
      expect((await askWith([{ ...rsa.jwk, key_ops: ['encrypt'] }, ec.jwk], await rsa.sign())).status).to.equal(401);
    });
    it('the same kid twice: the key that fits is found', async () => {
      expect((await askWith([attacker.jwk, rsa.jwk], await rsa.sign())).status).to.equal(200);
    });
    it('a key of another type does not verify, whatever its kid', async () => {
      const answer = await askWith([{ ...ec.jwk, kid: 'rsa' }], await rsa.sign());
      expect(answer).to.include({ status: 401, body: "Jwks doesn't have key to match kid or alg from Jwt" });
    });
    it('a key whose alg is another one does not verify', async () => {
      expect((await askWith([{ ...rsa.jwk, alg: 'RS512' }, ec.jwk], await rsa.sign())).status).to.equal(401);
    });
    it('the valid keys of a set with unreadable keys are used', async () => {
      const junk = [
        { kty: 'RSA' },
        { kty: 'new' },
        null,
        7,
        { kty: 'EC', crv: 'P-256', x: 1, y: 2 },
      ] as unknown as JWK[];
      expect((await askWith([...junk, rsa.jwk], await rsa.sign())).status).to.equal(200);
    });
    it('a private key pasted by mistake verifies as the public one', async () => {
      expect((await askWith([{ ...(await exportJWK(rsa.privateKey)), kid: 'rsa' }], await rsa.sign())).status).to.equal(
        200,
      );
    });
  });

  it('a valid token of each algorithm is accepted', async () => {
    for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
      const issuer = await createIssuer(alg);
      const own = await serve(
        jwt({ providers: { main: { issuer: ISSUER, jwks: { local: { key: issuer.keySet } } } } }, testContext()),
      );
      expect((await own.ask('/', { authorization: `Bearer ${await issuer.sign()}` })).status, alg).to.equal(200);
      await own.close();
    }
    const secret = Buffer.alloc(64, 7);
    const hmac = await serve(
      jwt(
        {
          providers: {
            main: {
              issuer: ISSUER,
              jwks: { local: { key: JSON.stringify({ kty: 'oct', k: secret.toString('base64url') }) } },
            },
          },
        },
        testContext(),
      ),
    );
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      const token = await new SignJWT(CLAIMS).setProtectedHeader({ alg }).sign(secret);
      expect((await hmac.ask('/', { authorization: `Bearer ${token}` })).status, alg).to.equal(200);
    }
    await hmac.close();
  });
});
