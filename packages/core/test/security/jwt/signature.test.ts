import { expect } from 'chai';
import { createSecretKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { readJwk, type Key } from '../../../src/security/jwt/jwk.ts';
import { isSignedWith } from '../../../src/security/jwt/verifier.ts';
import { ALGORITHMS } from '../../../src/security/jwt/token.ts';

interface Pair {
  readonly key: Key;
  readonly secret: KeyObject;
}

function pairFor(alg: string, rsaBits = 2048): Pair {
  const { kty, crv } = ALGORITHMS[alg]!;
  if (kty === 'oct') {
    const secret = createSecretKey(randomBytes(64));
    return { secret, key: readJwk(secret.export({ format: 'jwk' })) as Key };
  }
  const { publicKey, privateKey } =
    kty === 'RSA'
      ? generateKeyPairSync('rsa', { modulusLength: rsaBits })
      : kty === 'EC'
        ? generateKeyPairSync('ec', { namedCurve: crv! })
        : generateKeyPairSync('ed25519');
  return { secret: privateKey, key: readJwk(publicKey.export({ format: 'jwk' })) as Key };
}

const tokenOf = (alg: string, { secret }: Pair): Promise<string> =>
  new CompactSign(Buffer.from('{"sub":"alice"}')).setProtectedHeader({ alg }).sign(secret);

/** Signatures that are none, made of a good one. */
function damaged(text: string): string[] {
  const end = text.lastIndexOf('.') + 1;
  const signature = Buffer.from(text.slice(end), 'base64url');
  const flipped = (at: number): Buffer => signature.map((byte, i) => (i === at ? byte ^ 1 : byte)) as Buffer;
  const forged = [
    flipped(0),
    flipped(signature.length - 1),
    signature.subarray(1),
    signature.subarray(0, -1),
    Buffer.concat([signature, Buffer.of(0)]),
    Buffer.concat([Buffer.of(0), signature]),
    Buffer.alloc(signature.length),
    Buffer.alloc(signature.length, 0xff),
    Buffer.alloc(0),
  ];
  return [
    ...forged.map((bytes) => text.slice(0, end) + Buffer.from(bytes).toString('base64url')),
    text.replace('.', '.e'),
  ];
}

describe('a signature', () => {
  for (const alg of Object.keys(ALGORITHMS)) {
    it(`of ${alg} is good with its key alone, unchanged`, async () => {
      const [pair, other] = [pairFor(alg), pairFor(alg)];
      const text = await tokenOf(alg, pair);
      expect(await isSignedWith({ alg, text }, pair.key)).to.equal(true);
      expect(await isSignedWith({ alg, text }, other.key)).to.equal(false);
      for (const bad of damaged(text)) {
        expect(await isSignedWith({ alg, text: bad }, pair.key), bad).to.equal(false);
      }
    });
  }

  it('of one algorithm is not one of another with the same key', async () => {
    const rsa = pairFor('RS256');
    const text = await tokenOf('RS256', rsa);
    for (const alg of ['RS384', 'RS512', 'PS256', 'PS384'])
      expect(await isSignedWith({ alg, text }, rsa.key)).to.equal(false);
  });

  it('of an RSA key below 2048 bits is invalid', async () => {
    const weak = pairFor('RS256', 1024);
    const head = `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${Buffer.from('{}').toString('base64url')}`;
    const text = `${head}.${sign('sha256', Buffer.from(head), weak.secret).toString('base64url')}`;
    expect(await isSignedWith({ alg: 'RS256', text }, weak.key)).to.equal(false);
  });

  it('of a long RSA key is checked too', async () => {
    const long = pairFor('RS256', 4608);
    const text = await tokenOf('RS256', long);
    expect(await isSignedWith({ alg: 'RS256', text }, long.key)).to.equal(true);
    expect(await isSignedWith({ alg: 'RS256', text: damaged(text)[0]! }, long.key)).to.equal(false);
  }).timeout(60_000);
});
