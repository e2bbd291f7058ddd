import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

export const ISSUER = 'https://issuer.test/';
/** The clock of the tests: a fixed moment. */
export const NOW = Date.UTC(2026, 0, 1);
export const seconds = (offset = 0): number => NOW / 1000 + offset;

/** Someone who signs tokens. */
export interface Issuer {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
  /** The public key as a key set. */
  readonly keySet: string;
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
}

export async function createIssuer(alg = 'RS256', kid = 'k1'): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  return {
    privateKey,
    jwk,
    keySet: JSON.stringify({ keys: [jwk] }),
    sign: (claims = {}, header = {}) =>
      new SignJWT({ iss: ISSUER, sub: 'me', exp: seconds(600), ...claims })
        .setProtectedHeader({ alg, kid, ...header })
        .sign(privateKey),
  };
}
