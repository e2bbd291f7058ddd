import { createHmac, KeyObject, sign as signRaw } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { CompactEncrypt, exportSPKI, importJWK, type CryptoKey } from 'jose';
import { createIssuer, ISSUER, seconds, type Issuer } from './issuer.ts';

export const b64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
/** Claims that every verifier accepts. */
export const CLAIMS = { iss: ISSUER, sub: 'me', exp: seconds(600) };
export const keyOf = (issuer: Issuer): KeyObject => KeyObject.from(issuer.privateKey as never);

/** Signs with the key of an issuer whatever the header says. */
export function signAs(issuer: Issuer, header: object, claims: object | string = CLAIMS): string {
  const input = `${b64(header)}.${b64(claims)}`;
  return `${input}.${signRaw('sha256', Buffer.from(input), keyOf(issuer)).toString('base64url')}`;
}

/** A part of the gateway that verifies tokens of {@link ISSUER} at the time `NOW`. */
export interface Verifying {
  /** Returns `undefined` for a token that is accepted, otherwise why not. Rejects when it could not be decided. */
  verdict(token: string): Promise<string | undefined>;
  close?(): unknown;
}

export interface VerifyingKind {
  readonly name: string;
  /** True if reasons are the texts of `JWT_STATUS`. */
  readonly hasTexts: boolean;
  create(keySet: string): Promise<Verifying>;
}

/** The catalogue of attacks on the form and the signature of tokens: every verifier rejects them all. */
export function attackContract({ name, hasTexts, create }: VerifyingKind): void {
  describe(`attacks on the form of tokens, at ${name}`, () => {
    let rsa: Issuer;
    let ec: Issuer;
    let attacker: Issuer;
    let verifying: Verifying;
    let pem: string;
    before(async () => {
      [rsa, ec, attacker] = await Promise.all([
        createIssuer('RS256', 'rsa'),
        createIssuer('ES256', 'ec'),
        createIssuer('RS256', 'rsa'),
      ]);
      verifying = await create(JSON.stringify({ keys: [rsa.jwk, ec.jwk] }));
      pem = await exportSPKI((await importJWK(rsa.jwk, 'RS256')) as CryptoKey);
    });
    after(() => verifying.close?.());
    const signed = (header: object, claims?: object | string, issuer = rsa): string => signAs(issuer, header, claims);
    async function accepted(token: string): Promise<void> {
      expect(await verifying.verdict(token)).to.equal(undefined);
    }
    async function refused(token: string, text?: string | RegExp): Promise<void> {
      const reason = await verifying.verdict(token);
      expect(reason, token).to.be.a('string');
      if (token !== '') expect(reason).to.not.include(token);
      if (!hasTexts || text === undefined) return;
      if (typeof text === 'string') expect(reason).to.equal(text);
      else expect(reason).to.match(text);
    }

    it('valid tokens are accepted', async () => {
      await accepted(await rsa.sign());
      await accepted(await ec.sign());
      await accepted(signed({ alg: 'RS256', kid: 'rsa' }));
    });

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
    it('a truncated signature', async () => refused((await rsa.sign()).slice(0, -4)));
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

    const claiming = (changes: object): string => signed({ alg: 'RS256', kid: 'rsa' }, { ...CLAIMS, ...changes });
    for (const exp of [`"${seconds(60)}"`, '1e400', '-1', 'null', '1e30', '0']) {
      it(`exp ${exp}`, () =>
        refused(
          signed({ alg: 'RS256', kid: 'rsa' }, `{"iss":"${ISSUER}","sub":"me","exp":${exp}}`),
          /^Jwt (?:payload \[exp\] field is not|is expired)|^Jwt payload is an invalid JSON$/,
        ));
    }
    for (const name of ['nbf', 'iat'])
      it(`${name} as text`, () =>
        refused(claiming({ [name]: 'soon' }), `Jwt payload [${name}] field is not an integer`));
    for (const [name, value] of Object.entries({ iss: 7, sub: {}, jti: [] }))
      it(`${name} as ${JSON.stringify(value)}`, () =>
        refused(claiming({ [name]: value }), `Jwt payload [${name}] field is not a string`));
    for (const aud of [7, {}, [7], [null]])
      it(`aud as ${JSON.stringify(aud)}`, () =>
        refused(claiming({ aud }), 'Jwt payload [aud] field is not a string or string list'));
    for (const iss of [
      'https://issuer.test',
      `${ISSUER}/`,
      'HTTPS://issuer.test/',
      `${ISSUER}other`,
      ` ${ISSUER}`,
      undefined,
    ])
      it(`issuer ${JSON.stringify(iss)} is not ${ISSUER}`, () =>
        refused(claiming({ iss }), 'Jwt issuer is not configured'));
    it('nbf in the future', () => refused(claiming({ nbf: seconds(300) }), 'Jwt not yet valid'));

    for (const typ of [['logout+jwt'], ['JWT'], { typ: 'JWT' }, 7, null]) {
      it(`typ ${JSON.stringify(typ)}, which is not a string`, () => refused(signed({ alg: 'RS256', kid: 'rsa', typ })));
    }
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

    it('a token in a token', async () =>
      refused(signed({ alg: 'RS256', kid: 'rsa', cty: 'JWT' }, await rsa.sign()), 'Jwt payload is an invalid JSON'));
    it('an encrypted token', async () => {
      const encrypted = await new CompactEncrypt(Buffer.alloc(1000))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(new Uint8Array(32));
      await refused(encrypted, /not in the form/);
    });
    it('an encrypted token with zip, which unpacks without end', async () => {
      const zipped = deflateRawSync(Buffer.alloc(10_000_000)).toString('base64url');
      const header = b64({ alg: 'RSA-OAEP', enc: 'A256GCM', zip: 'DEF' });
      await refused(`${header}.AAAA.AAAA.${zipped.slice(0, 8000)}.AAAA`, /not in the form/);
      await refused(signed({ alg: 'RS256', kid: 'rsa', zip: 'DEF' }, zipped.slice(0, 8000)), /invalid JSON/);
    });
    it('PBES2 with a huge count', () =>
      refused(`${b64({ alg: 'PBES2-HS256+A128KW', enc: 'A128GCM', p2c: 2 ** 31 })}.a.a.a.a`, /not in the form/));
    it('bytes that are not UTF-8 and would be decoded to the same character', async () => {
      const signedBytes = (header: Buffer, claims: Buffer): string => {
        const input = `${header.toString('base64url')}.${claims.toString('base64url')}`;
        return `${input}.${signRaw('sha256', Buffer.from(input), keyOf(rsa)).toString('base64url')}`;
      };
      const head = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'rsa' }));
      const claims = JSON.stringify({ ...CLAIMS, sub: 'm\u00ff' });
      await accepted(signedBytes(head, Buffer.from(claims)));
      await refused(signedBytes(head, Buffer.from(claims, 'latin1')), 'Jwt payload is an invalid JSON');
      const oddHead = Buffer.from('{"alg":"RS256","kid":"rsa","x":"\u00ff"}', 'latin1');
      await refused(signedBytes(oddHead, Buffer.from(claims)), 'Jwt header is an invalid JSON');
    });

    it('JSON serialisation', async () => {
      const [header, payload, signature] = (await rsa.sign()).split('.');
      const flattened = { protected: header, payload, signature };
      for (const form of [flattened, { payload, signatures: [{ protected: header, signature }] }])
        await refused(JSON.stringify(form), /not in the form/);
    });
    it('15 KiB of text that is not a token', () => refused('a'.repeat(15 * 1024), /not in the form/));
    it('nesting without end', () =>
      refused(
        signed({ alg: 'RS256', kid: 'rsa' }, `{"iss":${'['.repeat(5000)}${']'.repeat(5000)}}`),
        'Jwt payload is an invalid JSON',
      ));
  });
}
