import { decodeProtectedHeader, errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import { JWT_STATUS, parseToken, type TokenForm } from '@edge-gateway/core/jwt';
import type { OidcAuthorizationCode } from '@edge-gateway/core/schema';
import { createExpiringMap } from '../session/expiring-map.ts';
import { failure } from '../failure.ts';
import { digest } from '@edge-gateway/core';
import type { KeySet } from './key-source.ts';
import type { Provider } from './provider.ts';

/** Tokens may be this much older or newer than the clock of this machine says. */
export const CLOCK_SKEW_SECONDS = 60;
/** Public-key algorithms: a login never trusts shared secrets. */
const ALGORITHMS = [
  ...['RS', 'PS', 'ES'].flatMap((family) => [256, 384, 512].map((bits) => `${family}${bits}`)),
  'EdDSA',
  'Ed25519',
];
/** The callers check types and required claims; a token from the provider may be large, and have times with a fraction. */
const FORM: TokenForm = { algorithms: ALGORITHMS, isType: () => true, maxBytes: 512 * 1024, times: 'fraction' };

export type KeyPolicy = OidcAuthorizationCode['jwksCacheRefreshPolicy'];

export interface Verifier {
  /**
   * The claims of a token that the provider signed. Throws `ERR_OIDC_TOKEN_INVALID` with `cause`, and where the key set
   * is needed and cannot be read what reading threw. `fresh` is a token that just came from the provider itself.
   */
  verify(token: string, expected: JWTVerifyOptions & { readonly fresh: boolean }): Promise<JWTPayload>;
}

/** Key ids that are remembered as not in the key set, and for how long. */
const MAX_ABSENT = 1000;
const ABSENT_MS = 60_000;

/**
 * Verifies tokens of a provider by its key set. An unknown key id makes it read the set again, unless `policy` says
 * otherwise: at once, or when the cool-down of the read before is over, so that a token that was signed with a new key
 * is never refused. Ids that a new set did not have either are remembered: repeating them leads to no read.
 */
export function createVerifier(provider: Provider, policy: KeyPolicy, now: () => number): Verifier {
  const limit = policy?.maxIdpReqPerPollingInterval;
  const mayRead = (): boolean => limit === undefined || provider.mayRefetch(limit);
  const absent = createExpiringMap<number>({ max: MAX_ABSENT, ttlMs: ABSENT_MS, now });

  async function newerThan(set: KeySet, token: string, fresh: boolean): Promise<KeySet | undefined> {
    if (policy?.never || (!fresh && absent.get(keyIdOf(token)) === set.number)) return undefined;
    const newer = provider.keys!.newerThan(set, { trusted: fresh, mayRead });
    return fresh ? newer : newer.catch(() => undefined);
  }

  async function verifyBy(token: string, { fresh, ...options }: JWTVerifyOptions & { readonly fresh: boolean }) {
    const keys = provider.keys!;
    const known = keys.begun;
    let set = await keys.get();
    for (;;) {
      const { payload, error } = await tryKeys(token, set, options);
      if (payload) return payload;
      // A set that was asked for after the token came is the last word.
      const last = set.number > known;
      if (last && error instanceof errors.JWKSNoMatchingKey) absent.set(keyIdOf(token), set.number);
      const newer = last || !isUnknownKey(error, fresh) ? undefined : await newerThan(set, token, fresh);
      if (!newer) return refuse(error);
      set = newer;
    }
  }

  return {
    async verify(token, { fresh, ...expected }) {
      const parsed = parseToken(token, FORM);
      if (typeof parsed === 'string') throw failure('ERR_OIDC_TOKEN_INVALID', JWT_STATUS[parsed].text);
      const metadata = await provider.metadata();
      const supported = metadata.id_token_signing_alg_values_supported;
      const algorithms = ALGORITHMS.filter((alg) => !supported || supported.includes(alg));
      const options = {
        clockTolerance: CLOCK_SKEW_SECONDS,
        currentDate: new Date(now()),
        issuer: metadata.issuer,
        algorithms,
      };
      return verifyBy(token, { ...options, ...expected, fresh });
    },
  };
}

async function tryKeys(
  token: string,
  { keys }: KeySet,
  options: JWTVerifyOptions,
): Promise<{ readonly payload?: JWTPayload; readonly error?: unknown }> {
  return jwtVerify(token, keys, options).catch((error: unknown) => ({ error }));
}

/** Keys may change and keep their id, or have none; so in a token of the provider's own a bad signature says the same. */
function isUnknownKey(error: unknown, fresh: boolean): boolean {
  return error instanceof errors.JWKSNoMatchingKey || (fresh && error instanceof errors.JWSSignatureVerificationFailed);
}

function keyIdOf(token: string): string {
  return digest(JSON.stringify(decodeProtectedHeader(token).kid ?? ''));
}

function refuse(error: unknown): never {
  throw failure('ERR_OIDC_TOKEN_INVALID', error instanceof Error ? error.message : undefined, error);
}

/** True when a token was refused because of its times alone. */
export function isClockProblem(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof errors.JWTExpired) return true;
  if ((cause as { code?: unknown } | undefined)?.code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return true;
  return cause instanceof errors.JWTClaimValidationFailed && ['iat', 'nbf', 'exp'].includes(cause.claim);
}
