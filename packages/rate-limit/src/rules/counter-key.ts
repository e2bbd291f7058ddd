import { digest } from '@edge-gateway/core';

/** Values that are part of a key as they are: short, and without separators. */
const PLAIN = /^[\w.:@/+-]{1,64}$/;

/** 128 bits in base64url. */
const DIGEST_LENGTH = 22;

/**
 * Returns a value as a part of a counter's key: itself if it is short and plain, otherwise the first 128 bits of its SHA-256, so that
 * different values give different parts, and keys are bounded.
 */
export function keyPart(value: string): string {
  return PLAIN.test(value) ? value : digestPart(value);
}

/** Returns the part of a secret, which is never the secret itself. */
export function digestPart(value: string): string {
  return `#${digest(value).slice(0, DIGEST_LENGTH)}`;
}
