import {
  deriveKey,
  randomToken,
  secretText,
  MIN_SIGNING_KEY_BYTES,
  PREVIOUS_SIGNING_KEY_ENTRY,
  SIGNING_KEY_ENTRY,
  signingKeySecret,
  signingKeyProblem,
  type Context,
} from '@edge-gateway/core';
import type { UserSession } from '@edge-gateway/core/schema';
import { failure } from '../error-codes.ts';
import type { ClientCredentials } from '../provider/client-authentication.ts';
import { findSecret } from '../provider/secret.ts';

/** Where keys of a login come from. */
export interface KeyParts {
  readonly context: Context;
  readonly session: UserSession;
  /** Default: from the Secret that replicas share. */
  readonly signingKey?: string | readonly string[] | undefined;
}

/** Returns the 32-byte keys of `cipherConfig`, the current one first. Throws `ERR_OIDC_SECRET`. */
export function cipherKeysOf({ session, context }: KeyParts): readonly Uint8Array[] | undefined {
  const ref = session.cipherConfig?.keyRef;
  if (!ref) return undefined;
  const { key = '', [PREVIOUS_KEY_ENTRY]: previous } = findSecret(context.secrets, ref)?.data ?? {};
  return withPrevious(key, previous).map((each) => {
    const bytes = Buffer.from(each, 'base64');
    if (bytes.length !== 32) throw failure('ERR_OIDC_SECRET', 'the key of cipherConfig must have 32 bytes');
    return new Uint8Array(bytes);
  });
}

const PREVIOUS_KEY_ENTRY = 'previous-key';

const withPrevious = <T>(key: T, previous: T | undefined): readonly T[] =>
  previous === undefined ? [key] : [key, previous];

/** Returns the keys of `state`, the current one first. */
export function stateKeysOf(parts: KeyParts, { secret }: ClientCredentials): readonly Uint8Array[] {
  const known = signingKeysOf(parts) ?? cipherKeysOf(parts);
  const { context } = parts;
  const isLong = secret !== undefined && Buffer.byteLength(secret) >= MIN_SIGNING_KEY_BYTES;
  const keys = known ?? [isLong ? secret : (context.processKey ?? context.state('oidc:state-key', randomToken))];
  return keys.map((key) => deriveKey(key, 'oidc state'));
}

/** Returns the signing keys of the options, or else of the Secret. Throws `ERR_OIDC_SECRET` for a weak one. */
function signingKeysOf({ context, signingKey }: KeyParts): readonly string[] | undefined {
  if (signingKey !== undefined) {
    const keys = [signingKey].flat();
    if (keys.length === 0) throw failure('ERR_OIDC_SECRET', 'signingKey is an empty list');
    return keys.map((key) => strongKey(key, 'signingKey'));
  }
  const secret = context.secrets.get(signingKeySecret());
  const [current, previous] = [SIGNING_KEY_ENTRY, PREVIOUS_SIGNING_KEY_ENTRY].map((entry) => {
    const key = secretText(secret, entry);
    const { namespace, name } = signingKeySecret();
    return key === undefined ? undefined : strongKey(key, `${entry} of Secret ${namespace}.${name}`);
  });
  return current === undefined ? undefined : withPrevious(current, previous);
}

/** Returns the key. Throws `ERR_OIDC_SECRET` for a weak one. */
function strongKey(key: string, what: string): string {
  const problem = signingKeyProblem(key);
  if (problem) throw failure('ERR_OIDC_SECRET', `${what} ${problem}`);
  return key;
}
