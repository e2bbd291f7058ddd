import { createHmac, KeyObject, sign as signRaw } from 'node:crypto';
import { expect } from 'chai';
import { CompactEncrypt, exportJWK, exportSPKI, importJWK, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { JwtProvider } from '@edge-gateway/core/schema';
import { jwt } from '../src/index.ts';
import { createIssuer, ISSUER, seconds, serve, testContext, type Issuer } from './issuer.ts';

const b64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const CLAIMS = { iss: ISSUER, sub: 'me', exp: seconds(600) };

/** Every line of the catalogue of attacks on tokens. Nothing of it may get through, and nothing may be a 5xx. */
describe('attacks on tokens', () => {
  let rsa: Issuer;
  let ec: Issuer;
  let attacker: Issuer;
  let pem: string;
  let server: Awaited<ReturnType<typeof serve>>;
  before(async () => {
    [rsa, ec, attacker] = await Promise.all([
      createIssuer('RS256', 'rsa'),
      createIssuer('ES256', 'ec'),
      createIssuer('RS256', 'rsa'),
    ]);
    pem = await exportSPKI((await importJWK(rsa.jwk, 'RS256')) as CryptoKey);
    server = await serve(jwt({ providers: { main: providerWith(rsa.jwk, ec.jwk) } }, testContext()));
  });
  after(() => server.close());

  function providerWith(...keys: JWK[]): JwtProvider {
    return { issuer: ISSUER, audiences: [], jwks: { local: { key: JSON.stringify({ keys }) } } };
  }

  async function refused(token: string, body?: string | RegExp): Promise<void> {
    const answer = await server.ask('/', { authorization: `Bearer ${token}` });
    expect([401, 431], answer.body).to.include(answer.status);
    expect(answer.body).to.not.include(token);
    if (typeof body === 'string') expect(answer.body).to.equal(body);
    else if (body) expect(answer.body).to.match(body);
  }

  const signed = (header: object, claims: object | string = CLAIMS, key: Issuer = rsa): string => {
    const input = `${b64(header)}.${b64(claims)}`;
    return `${input}.${signRaw('sha256', Buffer.from(input), keyOf(key)).toString('base64url')}`;
  };
  const keyOf = (issuer: Issuer): KeyObject => KeyObject.from(issuer.privateKey as never);

  for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
    it(`alg "${alg}" without a signature`, () => refused(`${b64({ alg })}.${b64(CLAIMS)}.`));
    it(`alg "${alg}" with some signature`, () =>
      refused(`${b64({ alg })}.${b64(CLAIMS)}.AAAA`, 'Jwt header [alg] is not supported'));
  }

  it('HS256 with the RSA public key as the secret', async () => {
    const input = `${b64({ alg: 'HS256', kid: 'rsa' })}.${b64(CLAIMS)}`;
    for (const secret of [pem, pem.trim(), rsa.jwk.n!]) {
      await refused(
        `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`,
        /^Jwks doesn't have key/,
      );
    }
  });

  it('HS256 with the PEM as the secret, where the key is configured as PEM', async () => {
    const asPem = await serve(
      jwt({ providers: { main: { issuer: ISSUER, jwks: { local: { key: pem } } } } }, testContext()),
    );
    try {
      const input = `${b64({ alg: 'HS256' })}.${b64(CLAIMS)}`;
      const forged = `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
      expect((await asPem.ask('/', { authorization: `Bearer ${forged}` })).status).to.equal(401);
      expect((await asPem.ask('/', { authorization: `Bearer ${await rsa.sign()}` })).status).to.equal(200);
    } finally {
      await asPem.close();
    }
  });

  it('a key embedded as jwk', () =>
    refused(signed({ alg: 'RS256', kid: 'rsa', jwk: attacker.jwk }, CLAIMS, attacker), 'Jwt verification fails'));
  for (const name of ['jku', 'x5u']) {
    it(`a key set elsewhere by ${name}`, () =>
      refused(
        signed({ alg: 'RS256', kid: 'rsa', [name]: 'http://127.0.0.1:9/keys' }, CLAIMS, attacker),
        'Jwt verification fails',
      ));
  }
  it('a certificate chain in x5c', () =>
    refused(signed({ alg: 'RS256', kid: 'rsa', x5c: ['AAAA'] }, CLAIMS, attacker), 'Jwt verification fails'));

  for (const kid of ['../../dev/null', "' OR 1=1 --", 'a\u0000b', '/etc/passwd', '__proto__', 'constructor']) {
    it(`kid ${JSON.stringify(kid)}`, () =>
      refused(signed({ alg: 'RS256', kid }, CLAIMS, attacker), /^Jwks doesn't have key/));
  }
  for (const kid of [['rsa'], { a: 1 }, 7, null, true]) {
    it(`kid as ${JSON.stringify(kid)}`, () =>
      refused(signed({ alg: 'RS256', kid }), 'Jwt header [kid] field is not a string'));
  }

  it('a signature by someone else', () =>
    refused(signed({ alg: 'RS256', kid: 'rsa' }, CLAIMS, attacker), 'Jwt verification fails'));
  it('an empty signature', async () => refused((await rsa.sign()).replace(/[^.]+$/, '')));
  it('a cut signature', async () => refused((await rsa.sign()).slice(0, -4)));
  it('a changed payload', async () => {
    const [head, , signature] = (await rsa.sign()).split('.');
    await refused(`${head}.${b64({ ...CLAIMS, sub: 'admin' })}.${signature}`, 'Jwt verification fails');
  });
  it('an ECDSA signature of zeros', () =>
    refused(
      `${b64({ alg: 'ES256', kid: 'ec' })}.${b64(CLAIMS)}.${Buffer.alloc(64).toString('base64url')}`,
      'Jwt verification fails',
    ));
  it('an ECDSA signature in DER', async () => {
    const input = `${b64({ alg: 'ES256', kid: 'ec' })}.${b64(CLAIMS)}`;
    await refused(
      `${input}.${signRaw('sha256', Buffer.from(input), keyOf(ec)).toString('base64url')}`,
      'Jwt verification fails',
    );
  });
  it('an ECDSA signature of the wrong length', async () => {
    const [head, body, signature] = (await ec.sign()).split('.');
    const bytes = Buffer.from(signature!, 'base64url');
    for (const wrong of [bytes.subarray(0, 63), Buffer.concat([bytes, Buffer.alloc(1)])])
      await refused(`${head}.${body}.${wrong.toString('base64url')}`, 'Jwt verification fails');
  });

  it('RS256 token said to be PS256, and the other way round', async () => {
    const noAlg = await serve(
      jwt({ providers: { main: providerWith({ ...rsa.jwk, alg: undefined }) } }, testContext()),
    );
    try {
      const input = `${b64({ alg: 'PS256', kid: 'rsa' })}.${b64(CLAIMS)}`;
      const confused = `${input}.${signRaw('sha256', Buffer.from(input), keyOf(rsa)).toString('base64url')}`;
      expect((await noAlg.ask('/', { authorization: `Bearer ${confused}` })).body).to.equal('Jwt verification fails');
      await refused(confused, /^Jwks doesn't have key/);
    } finally {
      await noAlg.close();
    }
  });

  for (const [what, change] of [
    ['padding', (section: string) => `${section}=`],
    ['white space', (section: string) => `${section.slice(0, 4)} ${section.slice(4)}`],
    ['a line break', (section: string) => `${section.slice(0, 4)}\t${section.slice(4)}`],
    ['the standard alphabet', (section: string) => `${section.slice(0, -1)}+/`],
  ] as const) {
    for (const [i, name] of ['header', 'payload', 'signature'].entries()) {
      it(`${what} in the base64 of the ${name}`, async () => {
        const sections = (await rsa.sign()).split('.');
        sections[i] = change(sections[i]!);
        await refused(sections.join('.'), /invalid Base64url|not in the form|fails/);
      });
    }
  }
  it('last bits that are not canonical', async () => {
    const token = await ec.sign();
    const last = token.at(-1)!;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    await refused(
      token.slice(0, -1) + alphabet[alphabet.indexOf(last) ^ 1],
      'Jwt signature is an invalid Base64url encoded',
    );
  });

  it('an unknown crit', () => refused(signed({ alg: 'RS256', kid: 'rsa', crit: ['exp'], exp: 1 })));
  it('an empty crit', () => refused(signed({ alg: 'RS256', kid: 'rsa', crit: [] })));
  it('b64 false', () => refused(signed({ alg: 'RS256', kid: 'rsa', b64: false, crit: ['b64'] })));
  it('the same claim twice', () =>
    refused(
      signed({ alg: 'RS256', kid: 'rsa' }, `{"iss":"${ISSUER}","sub":"me","sub":"admin","exp":${seconds(60)}}`),
      'Jwt payload is an invalid JSON',
    ));
  it('the same claim twice, once escaped', () =>
    refused(
      signed({ alg: 'RS256', kid: 'rsa' }, `{"iss":"${ISSUER}","sub":"me","s\\u0075b":"admin","exp":${seconds(60)}}`),
      'Jwt payload is an invalid JSON',
    ));
  it('the same header name twice', async () => {
    const head = Buffer.from('{"alg":"RS256","alg":"none","kid":"rsa"}').toString('base64url');
    await refused(`${head}.${b64(CLAIMS)}.AAAA`, 'Jwt header is an invalid JSON');
  });

  for (const [exp, body] of [
    [`"${seconds(60)}"`, 'Jwt payload [exp] field is not an integer'],
    ['1.5', 'Jwt payload [exp] field is not an integer'],
    ['1e400', 'Jwt payload [exp] field is not an integer'],
    ['-1', 'Jwt payload [exp] field is not a positive 64 bit integer'],
    ['null', 'Jwt payload [exp] field is not an integer'],
    ['1e30', 'Jwt payload [exp] field is not a positive 64 bit integer'],
    ['0', 'Jwt is expired'],
  ] as const) {
    it(`exp ${exp}`, () => refused(signed({ alg: 'RS256', kid: 'rsa' }, `{"iss":"${ISSUER}","exp":${exp}}`), body));
  }
  for (const name of ['nbf', 'iat']) {
    it(`${name} as text`, () =>
      refused(
        signed({ alg: 'RS256', kid: 'rsa' }, { ...CLAIMS, [name]: 'soon' }),
        `Jwt payload [${name}] field is not an integer`,
      ));
  }
  for (const [name, value] of [
    ['iss', 7],
    ['sub', {}],
    ['jti', []],
  ] as const) {
    it(`${name} as ${JSON.stringify(value)}`, () =>
      refused(
        signed({ alg: 'RS256', kid: 'rsa' }, { ...CLAIMS, [name]: value }),
        `Jwt payload [${name}] field is not a string`,
      ));
  }
  for (const aud of [7, {}, [7], [null]]) {
    it(`aud as ${JSON.stringify(aud)}`, () =>
      refused(
        signed({ alg: 'RS256', kid: 'rsa' }, { ...CLAIMS, aud }),
        'Jwt payload [aud] field is not a string or string list',
      ));
  }

  for (const iss of [
    'https://issuer.test',
    'https://issuer.test//',
    'HTTPS://issuer.test/',
    'https://issuer.test/other',
    ' https://issuer.test/',
  ]) {
    it(`issuer ${JSON.stringify(iss)} is not ${ISSUER}`, () =>
      refused(signed({ alg: 'RS256', kid: 'rsa' }, { ...CLAIMS, iss }), 'Jwt issuer is not configured'));
  }
  it('no issuer', () =>
    refused(signed({ alg: 'RS256', kid: 'rsa' }, { ...CLAIMS, iss: undefined }), 'Jwt issuer is not configured'));

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

  it('a token in a token', async () =>
    refused(signed({ alg: 'RS256', kid: 'rsa', cty: 'JWT' }, await rsa.sign()), 'Jwt payload is an invalid JSON'));
  it('an encrypted token, also one that unpacks without end', async () => {
    const encrypted = await new CompactEncrypt(Buffer.alloc(1000))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', zip: undefined })
      .encrypt(new Uint8Array(32));
    await refused(encrypted, /not in the form/);
  });
  it('PBES2 with a huge count', () =>
    refused(`${b64({ alg: 'PBES2-HS256+A128KW', enc: 'A128GCM', p2c: 2 ** 31 })}.a.a.a.a`, /not in the form/));
  it('JSON serialisation', () => refused(JSON.stringify({ payload: b64(CLAIMS), signatures: [] }), /not in the form/));
  it('a token of 15 KiB that is not one, and one larger than the limit', async () => {
    await refused('a'.repeat(15 * 1024), /not in the form/);
    const big = await rsa.sign({ groups: 'x'.repeat(20_000) });
    const answer = await serve(jwt({ providers: { main: providerWith(rsa.jwk) } }, testContext()));
    try {
      expect((await answer.ask(`/?access_token=${big}`).catch(() => ({ status: 431 }))).status).to.be.oneOf([401, 431]);
    } finally {
      await answer.close();
    }
  });
  for (const typ of ['logout+jwt', 'LOGOUT+JWT', 'application/logout+jwt', 'secevent+jwt', 'dpop+jwt']) {
    it(`typ ${typ}`, () => refused(signed({ alg: 'RS256', kid: 'rsa', typ }), 'Jwt verification fails'));
  }
  it('two tokens that disagree', async () => {
    const answer = await server.ask(`/?access_token=${signed({ alg: 'RS256', kid: 'rsa' }, CLAIMS, attacker)}`, {
      authorization: `Bearer ${await rsa.sign()}`,
    });
    expect(answer.status).to.equal(401);
  });
  it('nesting without end', () =>
    refused(
      signed({ alg: 'RS256', kid: 'rsa' }, `{"iss":${'['.repeat(5000)}${']'.repeat(5000)}}`),
      'Jwt payload is an invalid JSON',
    ));

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
    it('a key whose alg is another one does not verify', async () => {
      expect((await askWith([{ ...rsa.jwk, alg: 'RS512' }, ec.jwk], await rsa.sign())).status).to.equal(401);
    });
    it('a set with keys nobody can read still has its good ones', async () => {
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

  it('a good token of each algorithm still gets in', async () => {
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
