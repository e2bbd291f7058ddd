import { constants, createHmac, KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type { Key } from './jwk.ts';
import type { Token } from './token.ts';

/** Shorter RSA keys are never accepted (RFC 7518 §3.3). */
const MIN_RSA_BITS = 2048;
/** Signatures of longer keys are verified in another thread, because that takes longer. */
const MAX_QUICK_RSA_BITS = 4096;
/** Bytes of a signature of ES256 (RFC 7518 §3.4). */
const ES256_BYTES = 64;
const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

/** Returns true if a token was signed with a key. The key must fit the token's algorithm. */
export async function isSignedWith(token: Pick<Token, 'alg' | 'text'>, key: Key): Promise<boolean> {
  try {
    const known = checkQuickly(token, key);
    if (known !== undefined) return known;
    // Rarely needed, and large.
    const { compactVerify } = await import('jose');
    await compactVerify(token.text, key.value, { algorithms: [token.alg] });
    return true;
  } catch {
    return false;
  }
}

/** Verifies in this thread if that is faster than another thread; returns `undefined` otherwise. */
function checkQuickly({ alg, text }: Pick<Token, 'alg' | 'text'>, { value: key, bits }: Key): boolean | undefined {
  const end = text.lastIndexOf('.');
  const signed = Buffer.from(text.slice(0, end), 'latin1');
  const signature = Buffer.from(text.slice(end + 1), 'base64url');
  const digest = `sha${alg.slice(2)}`;
  if (!(key instanceof KeyObject)) {
    const expected = createHmac(digest, key).update(signed).digest();
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  }
  switch (alg) {
    case 'EdDSA':
    case 'Ed25519':
      return verify(null, signed, key, signature);
    case 'ES256':
      return signature.length === ES256_BYTES && verify(digest, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
    case 'ES384':
    case 'ES512':
      return undefined;
    default:
      if (bits < MIN_RSA_BITS) return false;
      if (bits > MAX_QUICK_RSA_BITS) return undefined;
      // An RSA key uses PKCS #1 v1.5 by default; a key with options takes twice as long.
      return verify(digest, signed, alg.startsWith('RS') ? key : { key, ...PSS }, signature);
  }
}
