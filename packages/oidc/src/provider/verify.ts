import { errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from 'jose';
import type { OidcAuthorizationCode } from '@edge-gateway/core/schema';
import { failure } from '../failure.ts';
import type { KeySet, Provider } from './provider.ts';

/** Tokens may be this much older or newer than the clock of this machine says. */
export const CLOCK_SKEW_SECONDS = 60;
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

export type KeyPolicy = OidcAuthorizationCode['jwksCacheRefreshPolicy'];

export interface Verifier {
  /** The claims of a token that the provider signed. Throws `ERR_OIDC_TOKEN_INVALID` with `cause`. */
  verify(token: string, expected: JWTVerifyOptions & { readonly fresh: boolean }): Promise<JWTPayload>;
}

/**
 * Verifies tokens of a provider by its key set. An unknown key id makes it read the set again as `policy` says; without
 * one, that happens for tokens that just came from the provider (`fresh`), and at most every 10 s.
 */
export function createVerifier(provider: Provider, policy: KeyPolicy, now: () => number): Verifier {
  async function newerKeys(fresh: boolean): Promise<KeySet | undefined> {
    if (policy?.never || (!policy && !fresh)) return undefined;
    const limit = policy?.maxIdpReqPerPollingInterval;
    if (limit !== undefined && !provider.mayRefetch(limit)) return undefined;
    return provider.keys?.refetch();
  }
  return {
    async verify(token, { fresh, ...expected }) {
      const metadata = await provider.metadata();
      const supported = metadata.id_token_signing_alg_values_supported;
      const algorithms = ALGORITHMS.filter((alg) => !supported || supported.includes(alg));
      const options = {
        clockTolerance: CLOCK_SKEW_SECONDS,
        currentDate: new Date(now()),
        issuer: metadata.issuer,
        algorithms,
        ...expected,
      };
      const keys = await provider.keys!.get();
      const verified = await jwtVerify(token, keys, options).catch(async (error: unknown) => {
        const newer = error instanceof errors.JWKSNoMatchingKey ? await newerKeys(fresh) : undefined;
        if (newer) return jwtVerify(token, newer, options).catch(refuse);
        return refuse(error);
      });
      return verified.payload;
    },
  };
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
