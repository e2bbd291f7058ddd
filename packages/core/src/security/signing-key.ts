import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import type { ResourceRef } from '../resource/resource.ts';

/** Returns the Secret whose `signing-key` replicas share: for logins in progress and for results cached in Redis. */
export const signingKeySecret = (): ResourceRef => ({ name: 'extauth-signing-key', namespace: gatewayNamespace() });

/** The entry of that Secret. */
export const SIGNING_KEY_ENTRY = 'signing-key';
/** The entry with the other key that is accepted while `signing-key` is replaced. */
export const PREVIOUS_SIGNING_KEY_ENTRY = 'previous-signing-key';
/** Minimum length of a signing key in bytes. */
export const MIN_SIGNING_KEY_BYTES = 32;

/** Returns why a signing key is too weak; `undefined` if it is long enough. With a guessed key an attacker can forge logins. */
export function signingKeyProblem(key: string | Uint8Array): string | undefined {
  const bytes = typeof key === 'string' ? Buffer.byteLength(key) : key.length;
  if (bytes >= MIN_SIGNING_KEY_BYTES) return undefined;
  return `has ${bytes} bytes: use at least ${MIN_SIGNING_KEY_BYTES} random bytes, e.g. from \`openssl rand -base64 32\``;
}
