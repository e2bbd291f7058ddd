/** The identity of a client, from the last handler that authenticated the request. */
export interface Identity {
  /** Name of the JWT provider, the login's issuer, or the step of external auth that authenticated the request. */
  readonly provider: string;
  /** The claim `sub` of a token, or the name of a user or of an API key; missing if the token has none. */
  readonly subject?: string;
  /** Claims of the verified token; empty without a token, as for API keys and passwords. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Values of the claim `groups`; empty if there is none. */
  readonly groups: readonly string[];
}

/** Returns the identity for the claims of a verified token; `subject` replaces the claim `sub`. */
export function identityFrom(
  provider: string,
  claims: Readonly<Record<string, unknown>>,
  subject: unknown = claims['sub'],
): Identity {
  return Object.freeze({
    provider,
    ...(typeof subject === 'string' && { subject }),
    claims,
    groups: Object.freeze(textsOf(claims['groups'])),
  });
}

function textsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((each): each is string => typeof each === 'string') : [];
}
