import { digest } from '@edge-gateway/core';
import {
  checkSignature,
  DEFAULT_CLOCK_SKEW_SECONDS,
  isKeySetFailure,
  JWT_STATUS,
  readToken,
  type JwtFailure,
  type Token,
  type TokenRules,
} from '@edge-gateway/core/jwt';
import type { OidcAuthorizationCode } from '@edge-gateway/core/schema';
import { failure } from '../error-codes.ts';
import { createExpiringMap } from '../session/expiring.ts';
import { PUBLIC_ALGORITHMS, type Provider } from './provider.ts';

/** Tolerance for the times of tokens. */
export const CLOCK_SKEW_SECONDS = DEFAULT_CLOCK_SKEW_SECONDS;
/** A logout token is accepted for this long after it was issued. */
export const LOGOUT_TOKEN_SECONDS = 600;
/** A token from the provider may be large. */
const FORM: TokenRules = { isType: () => true, maxBytes: 512 * 1024 };

export type KeyPolicy = OidcAuthorizationCode['jwksCacheRefreshPolicy'];

/** Requirements for a token of the provider. */
export interface ExpectedToken extends TokenRules {
  /** True for a token that came from the provider itself. */
  readonly fresh: boolean;
  /** The time for `exp` and `nbf`, in milliseconds since the epoch. Default: now. */
  readonly at?: number;
  readonly requiredClaims?: readonly string[];
  /** Maximum time since `iat`, which is then required and must not be in the future. */
  readonly maxAgeSeconds?: number;
}

export interface Verifier {
  /**
   * Returns a token that the provider signed. Throws `ERR_OIDC_TOKEN_INVALID`, or the error of the fetch if the key set is
   * required and unavailable.
   */
  verify(token: string, expected: ExpectedToken): Promise<Token>;
}

/** Limits of the remembered key ids that are not in the key set. */
const ABSENT = { max: 1000, ttlMs: 60_000 };

/**
 * Creates a {@link Verifier} with the key set of a provider. An unknown key id causes a fetch, unless `policy` prevents it: at
 * once, or after the cool-down of the previous one, so that no token with a new key is rejected. Ids that the fetched set does
 * not contain are remembered, and cause no fetch.
 */
export function createVerifier(provider: Provider, policy: KeyPolicy, now: () => number): Verifier {
  const limit = policy?.maxIdpReqPerPollingInterval;
  const absent = createExpiringMap<number>({ ...ABSENT, now });

  async function checkKey(token: Token, fresh: boolean, fetches: number): Promise<void> {
    const keys = provider.keys!;
    const kid = digest(token.kid ?? '');
    const usesKnownKeys = policy?.never !== undefined || (!fresh && absent.get(kid) === keys.version);
    const mayFetch = (): boolean => limit === undefined || provider.mayRefetch(limit);
    const failed = await checkSignature(token, keys, { fetches, trusted: fresh, mayFetch, usesKnownKeys });
    if (failed === undefined) return;
    const current = keys.fresh();
    if (failed === 'noKey' && current && keys.isNewerThan(current, fetches)) absent.set(kid, keys.version);
    if (!isKeySetFailure(failed)) throw invalid(failed);
    throw keys.error ?? failure('ERR_OIDC_PROVIDER_ANSWER', JWT_STATUS[failed].text);
  }

  return {
    async verify(text, { fresh, at = now(), requiredClaims = [], maxAgeSeconds, ...rules }) {
      const { fetches } = provider.keys!;
      const { issuer, id_token_signing_alg_values_supported: supported } = await provider.metadata();
      const algorithms = PUBLIC_ALGORITHMS.filter((alg) => !supported || supported.includes(alg));
      const issuedAt = maxAgeSeconds === undefined ? 'any' : 'past';
      const token = readToken(text, { ...FORM, algorithms, issuer, issuedAt, ...rules }, at);
      if (typeof token === 'string') throw invalid(token);
      await checkKey(token, fresh, fetches);
      const missing = requiredClaims.find((name) => token.payload[name] === undefined);
      if (missing) throw failure('ERR_OIDC_TOKEN_INVALID', `the claim ${missing} is missing`);
      if (at > ((token.iat ?? 0) + (maxAgeSeconds ?? Infinity) + CLOCK_SKEW_SECONDS) * 1000) throw invalid('expired');
      return token;
    },
  };
}

const CLOCK = new Error('the clocks of the gateway and the identity provider may differ');

function invalid(reason: JwtFailure): Error {
  const isClock = reason === 'expired' || reason === 'notYetValid';
  return failure('ERR_OIDC_TOKEN_INVALID', JWT_STATUS[reason].text, isClock ? CLOCK : undefined);
}

/** Returns true if a token was rejected only because of its times. */
export function isClockProblem(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return cause === CLOCK || cause?.code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED';
}
