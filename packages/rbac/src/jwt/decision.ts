import type { Facts } from '@edge-gateway/core';
import type { JwtFailure, Token } from '@edge-gateway/core/jwt';
import type { JwtProviders } from '@edge-gateway/core/schema';
import { removeOthersCopies } from './claim-headers.ts';
import type { Provider } from './provider.ts';
import type { FoundTokens } from './token-source.ts';

/** The verdict of one provider on the tokens of a request. */
export interface Verdict {
  readonly provider: Provider;
  readonly found: FoundTokens;
  readonly outcome: Pick<Token, 'payload'> | JwtFailure;
}

/** The verdict. `failure` is set if no provider accepted a token, even if the policy allows the request. */
export type JwtDecision =
  | { readonly passes: true; readonly accepted: Verdict; readonly failure?: undefined }
  | { readonly passes: boolean; readonly failure: JwtFailure };

/** Prepares the rules of a block for {@link decideJwt}: what happens without a valid token, and the headers that only tokens may set. */
export function jwtRulesOf(block: JwtProviders, providers: readonly Provider[]) {
  return {
    policy: block.allowMissingOrFailedJwt ? 'ALLOW_MISSING_OR_FAILED' : (block.validationPolicy ?? 'REQUIRE_VALID'),
    claimHeaders: new Set(providers.flatMap(({ claimHeaders }) => claimHeaders)),
  } as const;
}

/**
 * Decides by the verdicts of all providers, and records the result on the facts: only the claim headers of an
 * accepted token, its claims, and its removal. `rawHeaders` are used if the facts have none.
 */
export function decideJwt(
  verdicts: readonly Verdict[],
  { policy, claimHeaders }: ReturnType<typeof jwtRulesOf>,
  facts: Facts,
  rawHeaders: readonly string[],
): JwtDecision {
  removeOthersCopies(claimHeaders, facts, rawHeaders);
  const accepted = verdicts.find(({ outcome }) => typeof outcome !== 'string');
  if (accepted) {
    const { provider, found, outcome } = accepted;
    provider.accept((outcome as Pick<Token, 'payload'>).payload, found, facts);
    return { passes: true, accepted };
  }
  const failure = worstOf(verdicts.map(({ outcome }) => outcome as JwtFailure));
  const passes = policy === 'ALLOW_MISSING_OR_FAILED' || (policy === 'ALLOW_MISSING' && failure === 'missing');
  return { passes, failure };
}

/**
 * Returns the verdict on all tokens of a provider: the first failure, otherwise the first token. `undefined` as soon as
 * `verdictOf` returns it.
 */
export function verifyAll<T>(
  tokens: readonly string[],
  verdictOf: (text: string) => T | JwtFailure | undefined,
): T | JwtFailure | undefined {
  let first: T | undefined;
  for (const text of tokens) {
    const verdict = verdictOf(text);
    if (verdict === undefined || typeof verdict === 'string') return verdict;
    first ??= verdict;
  }
  return first ?? 'missing';
}

/** Returns the status of a rejection: 403 for an audience that is not allowed, otherwise 401. */
export function httpStatusOf(failure: JwtFailure): 401 | 403 {
  return failure === 'audienceNotAllowed' ? 403 : 401;
}

/** Returns the failure for the response: that of the provider that the token was meant for, if any. */
function worstOf(failures: readonly JwtFailure[]): JwtFailure {
  return (
    failures.find((failure) => failure !== 'missing' && failure !== 'unknownIssuer') ??
    failures.find((failure) => failure !== 'missing') ??
    'missing'
  );
}
