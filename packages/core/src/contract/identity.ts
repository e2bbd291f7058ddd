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

/** Claims of cached tokens are the same object at each request, so identities are cached by claims. */
const made = new WeakMap<object, Identity>();

/** Returns the identity for the claims of a verified token; `subject` replaces the claim `sub`. */
export function identityFrom(
  provider: string,
  claims: Readonly<Record<string, unknown>>,
  subject: unknown = claims['sub'],
): Identity {
  const known = made.get(claims);
  if (known && known.provider === provider && known.subject === subject) return known;
  const identity: Identity = Object.freeze({
    provider,
    ...(typeof subject === 'string' && { subject }),
    claims,
    groups: Object.freeze(textsOf(claims['groups'])),
  });
  made.set(claims, identity);
  return identity;
}

function textsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((each): each is string => typeof each === 'string') : [];
}
