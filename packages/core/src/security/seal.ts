import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

// Keys are passed as key objects: raw bytes are several times slower in Node.

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts with AES-256-GCM. `purpose` is authenticated: a value sealed for one purpose cannot be opened for another. */
export function seal(key: Uint8Array, purpose: string, text: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', createSecretKey(key), iv).setAAD(Buffer.from(purpose));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, body, cipher.getAuthTag()]).toString('base64url');
}

/** Returns the plaintext; `undefined` if the input was not sealed with this key for this purpose. */
export function unseal(key: Uint8Array, purpose: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return undefined;
  const iv = bytes.subarray(0, IV_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', createSecretKey(key), iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

/**
 * Returns the plaintext of the first matching key; `undefined` if none matches. For key rotation: the first key
 * seals, and the others only open earlier values.
 */
export function unsealWith(keys: readonly Uint8Array[], purpose: string, sealed: string): string | undefined {
  for (const key of keys) {
    const text = unseal(key, purpose, sealed);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Derives 32 bytes for one use from a secret with at least 32 bytes of randomness (HKDF-SHA-256). `use` names package and use, e.g. `oidc state`. */
export function deriveKey(secret: string | Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', `edge-gateway ${use}`, 32));
}

/** Returns 32 random bytes as text for cookies. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 as base64url. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Returns the HMAC-SHA-256 as base64url. */
export function keyedDigest(key: Uint8Array, text: string): string {
  return createHmac('sha256', createSecretKey(key)).update(text).digest('base64url');
}
