/** The Secret whose `signing-key` replicas share: for logins under way and for results that are kept in Redis. */
export const SIGNING_KEY_SECRET = { name: 'extauth-signing-key', namespace: 'gw-system' } as const;

/** The entry of that Secret. */
export const SIGNING_KEY_ENTRY = 'signing-key';
/** Bytes that a signing key needs at least. */
export const MIN_SIGNING_KEY_BYTES = 32;

/** Returns why a signing key can be guessed; `undefined` for one that is long enough. Whoever has the key can forge logins. */
export function signingKeyProblem(key: string | Uint8Array): string | undefined {
  const bytes = typeof key === 'string' ? Buffer.byteLength(key) : key.length;
  if (bytes >= MIN_SIGNING_KEY_BYTES) return undefined;
  return `has ${bytes} bytes: use at least ${MIN_SIGNING_KEY_BYTES} random bytes, e.g. from \`openssl rand -base64 32\``;
}
