import { X509Certificate } from 'node:crypto';
import { secretText, type SecretValue } from '../contract/snapshot.ts';
import { certificateBlocks } from '../security/certificates.ts';

/** The curves that Envoy loads certificates of, as Node.js names them: P-256, P-384 and P-521. */
const CURVES: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const MIN_RSA_BITS = 2048;

const known = new WeakMap<SecretValue, readonly string[]>();

/**
 * Returns why Envoy does not load a certificate, because of its key; empty if it does, or if there is no certificate. It would reject the listener
 * or the cluster with the certificate.
 */
export function reasonsOfKey(secret: SecretValue | undefined): readonly string[] {
  if (!secret) return [];
  let reasons = known.get(secret);
  if (!reasons) known.set(secret, (reasons = unloadable(secretText(secret, 'tls.crt') ?? '')));
  return reasons;
}

function unloadable(chain: string): readonly string[] {
  const [leaf] = certificateBlocks(chain);
  if (leaf === undefined) return [];
  try {
    const { asymmetricKeyType, asymmetricKeyDetails = {} } = new X509Certificate(leaf).publicKey;
    const { namedCurve, modulusLength = MIN_RSA_BITS } = asymmetricKeyDetails;
    if (asymmetricKeyType === 'ec' && !CURVES.has(namedCurve))
      return [`sslConfig with a key on the curve ${namedCurve}`];
    if (asymmetricKeyType === 'rsa' && modulusLength < MIN_RSA_BITS)
      return [`sslConfig with an RSA key of ${modulusLength} bits`];
    return [];
  } catch {
    // Reported where the certificate is read.
    return [];
  }
}
