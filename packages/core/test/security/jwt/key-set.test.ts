import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { JWT_STATUS } from '../../../src/security/jwt/index.ts';
import { parseKeys } from '../../../src/security/jwt/key-set.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const jwkOf = ({ publicKey }: { publicKey: typeof rsa.publicKey }) => publicKey.export({ format: 'jwk' });
const pemOf = ({ publicKey }: { publicKey: typeof rsa.publicKey }) =>
  publicKey.export({ format: 'pem', type: 'spki' }) as string;
const set = (...keys: unknown[]) => JSON.stringify({ keys });

describe('a key set', () => {
  it('does not use a shared secret that is shorter than the hash (RFC 7518 3.2)', () => {
    for (const [alg, bytes] of [
      ['HS256', 32],
      ['HS384', 48],
      ['HS512', 64],
    ] as const) {
      const found = (length: number): number => {
        const keys = parseKeys(JSON.stringify({ kty: 'oct', k: Buffer.alloc(length, 7).toString('base64url') }));
        if (typeof keys === 'string') throw new Error(keys);
        return keys.find(alg, undefined).length;
      };
      expect([found(bytes - 1), found(bytes)], alg).to.deep.equal([0, 1]);
    }
  });

  it('may begin with a byte order mark', () => {
    expect(parseKeys(`\ufeff${set(jwkOf(rsa))}`)).to.have.property('size', 1);
    expect(parseKeys(`\ufeff${pemOf(rsa)}`)).to.have.property('size', 1);
  });

  it('may be an object with a certificate or public key by key id', () => {
    for (const rules of [{}, { onlyNamed: true }]) {
      const keys = parseKeys(JSON.stringify({ k1: pemOf(rsa), k2: pemOf(ec) }), rules);
      if (typeof keys === 'string') throw new Error(keys);
      expect([keys.find('RS256', 'k1').length, keys.find('RS256', 'k2').length]).to.deep.equal([1, 0]);
      expect(keys.find('ES256', 'k2')).to.have.length(1);
    }
    expect(parseKeys(JSON.stringify({ k1: '-----BEGIN CERTIFICATE-----' }))).to.equal('keyPem');
    expect(parseKeys(JSON.stringify({ k1: pemOf(rsa), k2: 'x' }))).to.equal('keysMissing');
  });

  for (const [text, reason] of [
    ['{', 'Jwks is an invalid JSON'],
    ['null', 'Jwks is an invalid JSON'],
    ['{}', 'Jwks does not have [keys] field'],
    ['{"keys":{}}', '[keys] in Jwks is not an array'],
    [set(), "Jwks doesn't have any valid public key"],
    [set({ ...jwkOf(rsa), use: 'enc' }), "Jwks doesn't have any valid public key"],
    [set({}), '[kty] is missing in [keys]'],
    [set({ kty: 1 }), '[kty] is bad in [keys]'],
    [set({ kty: 'none' }), '[kty] is not supported in [keys]'],
    [set({ kty: 'toString' }), '[kty] is not supported in [keys]'],
    [set({ kty: 'RSA', e: 'AQAB' }), 'Jwks RSA [n] or [e] field is missing or has a parse error'],
    [set({ kty: 'RSA', n: '%', e: 'AQAB' }), 'Jwks RSA [n] or [e] field is missing or has a parse error'],
    [set({ ...jwkOf(rsa), alg: 'ES256' }), '[alg] is not started with [RS] or [PS] for an RSA key'],
    [set({ ...jwkOf(ec), alg: 'RS256' }), '[alg] is not started with [ES] for an EC key'],
    [set({ ...jwkOf(ec), crv: 'secp256k1' }), '[crv] or [alg] field is not supported for an EC key'],
    [set({ ...jwkOf(ec), x: '+' }), 'Jwks EC [x] or [y] field is an invalid Base64.'],
    [set({ ...jwkOf(ec), x: 'AAAA' }), 'Jwks EC [x] and [y] fields have a parse error.'],
    [set({ ...jwkOf(ed), x: '=' }), 'Jwks OKP [x] field is an invalid Base64.'],
    [set({ ...jwkOf(ed), x: 'AAAA' }), 'Jwks OKP [x] field is wrong length.'],
    [set({ kty: 'oct', k: '*' }), 'Jwks Oct key is an invalid Base64'],
    ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', 'PEM pubkey parse fails'],
  ] as const) {
    it(`${JSON.stringify(text.slice(0, 60))} fails with "${reason}"`, () => {
      const failure = parseKeys(text);
      expect(typeof failure === 'string' && JWT_STATUS[failure].text).to.equal(reason);
    });
  }

  it('detects the family of a PEM key', () => {
    for (const [pair, alg, other] of [
      [rsa, 'RS256', 'ES256'],
      [ec, 'ES256', 'ES384'],
      [ed, 'EdDSA', 'HS256'],
    ] as const) {
      const keys = parseKeys(pemOf(pair));
      if (typeof keys === 'string') throw new Error(keys);
      expect(keys.find(alg, 'any')).to.have.length(1);
      expect(keys.find(other, undefined)).to.have.length(0);
    }
  });

  it('accepts several PEM keys, and uses only the public part of a private one', () => {
    const keys = parseKeys(pemOf(rsa) + (ec.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string));
    if (typeof keys === 'string') throw new Error(keys);
    expect(keys.find('RS256', undefined)).to.have.length(1);
    const [found] = keys.find('ES256', undefined);
    expect(found?.value).to.have.property('type', 'public');
    expect(createPublicKey(ec.privateKey).equals(found?.value as typeof ec.publicKey)).to.equal(true);
  });

  it('may contain PEM in a member of a key, and other members beside the keys', () => {
    const key = { ...jwkOf(ec), kid: 'a', x5c: [pemOf(ec)] };
    const keys = parseKeys(JSON.stringify({ kty: 'EC', keys: [key], note: pemOf(rsa) }));
    expect(keys).to.include({ size: 1 });
  });

  it('matches keys by their exact id if required, and a token without id only by the single key that fits', () => {
    const found = (text: string, kid?: string): number => {
      const keys = parseKeys(text, { exactKid: true });
      if (typeof keys === 'string') throw new Error(keys);
      return keys.find('RS256', kid).length;
    };
    const [named, unnamed] = [{ ...jwkOf(rsa), kid: 'a' }, jwkOf(rsa)];
    expect([found(set(named, unnamed), 'a'), found(set(named, unnamed), 'b')]).to.deep.equal([1, 0]);
    expect([found(set(named)), found(set(named, jwkOf(ec))), found(set(named, unnamed))]).to.deep.equal([1, 1, 0]);
  });
});
