import type { Counter } from '../../observe/metrics.ts';
import type { Key } from './jwk.ts';
import type { KeySet } from './key-set.ts';
import type { KeySource, WaitingToken } from './key-source.ts';
import type { JwtFailure } from './status.ts';
import type { TokenCache } from './token-cache.ts';
import { parseToken, type Token, type TokenForm } from './token.ts';

/** Default tolerance for times. */
export const DEFAULT_CLOCK_SKEW_SECONDS = 60;

/** Requirements for the claims of a token. */
export interface ClaimRules {
  /** Empty or unset: any. */
  readonly issuer?: string;
  /** The token must be for one of them. Empty or unset: any. */
  readonly audiences?: readonly string[];
  /** `withoutScheme` ignores `http://`, `https://` and a slash at the end. Default: `exact`. */
  readonly audienceMatch?: 'exact' | 'withoutScheme';
  /** Tolerance for `exp`, `nbf` and `iat`. Default: 60. */
  readonly clockSkewSeconds?: number;
  /** `past` rejects a token whose `iat` is in the future. Default: `any`. */
  readonly issuedAt?: 'any' | 'past';
  /** True rejects a token without `exp`. Default: false. */
  readonly requireExpiration?: boolean;
}

/** Requirements for a token. */
export interface TokenRules extends TokenForm, ClaimRules {}

/** Returns the problem of the claims, if any. */
type CheckClaims = (token: Token, now: number) => JwtFailure | undefined;

/** Prepares the check of claims. `now` is in milliseconds since the epoch. */
function claimCheck(rules: ClaimRules): CheckClaims {
  const { issuer = '', clockSkewSeconds: skew = DEFAULT_CLOCK_SKEW_SECONDS, issuedAt = 'any' } = rules;
  const normal = rules.audienceMatch === 'withoutScheme' ? withoutScheme : (audience: string) => audience;
  const audiences = (rules.audiences ?? []).map(normal);
  return (token, now) => {
    if (issuer !== '' && token.iss !== issuer) return 'unknownIssuer';
    const seconds = now / 1000;
    if (rules.requireExpiration && token.exp === undefined) return 'expired';
    if (token.nbf !== undefined && token.nbf - skew > seconds) return 'notYetValid';
    if (issuedAt === 'past' && token.iat !== undefined && token.iat - skew > seconds) return 'notYetValid';
    if (token.exp !== undefined && token.exp + skew < seconds) return 'expired';
    if (audiences.length === 0) return undefined;
    return token.audiences.some((each) => audiences.includes(normal(each))) ? undefined : 'audienceNotAllowed';
  };
}

/** Checks everything of a token except its signature. */
export function readToken(text: string, rules: TokenRules, now: number): Token | JwtFailure {
  const token = parseToken(text, rules);
  return typeof token === 'string' ? token : (claimCheck(rules)(token, now) ?? token);
}

function withoutScheme(audience: string): string {
  return audience.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

/** Verifies the tokens of one issuer: form, issuer, times, audience, then signature. */
export interface TokenVerifier {
  /** Returns the result for a token that was verified before with the current keys. */
  known(text: string): Token | JwtFailure | undefined;
  /** Returns the token, or why it is invalid. Never rejects. */
  verify(text: string): Promise<Token | JwtFailure>;
}

export interface VerifierParts {
  readonly rules: TokenRules;
  readonly keys: KeySource;
  /** Verified tokens; share it only among verifiers with the same form of tokens and the same keys. */
  readonly cache: TokenCache;
  readonly now: () => number;
  readonly stats?: { readonly hits: Counter; readonly misses: Counter };
}

/** Creates a {@link TokenVerifier}. A verified token is cached; only its signature counts as verified, claims are checked each time. */
export function createVerifier({ rules, keys, cache, now, stats }: VerifierParts): TokenVerifier {
  const checkClaims = claimCheck(rules);

  function known(text: string): Token | JwtFailure | undefined {
    if (keys.stale) return undefined;
    const token = cache.get(text, keys.version);
    if (!token) return undefined;
    if (stats) stats.hits.value++;
    keys.refreshAhead();
    return checkClaims(token, now()) ?? token;
  }

  return {
    known,
    async verify(text) {
      const { fetches } = keys;
      if (keys.stale) {
        await keys.get();
        const verdict = known(text);
        if (verdict) return verdict;
      }
      if (stats) stats.misses.value++;
      const { version } = keys;
      const token = parseToken(text, rules);
      if (typeof token === 'string') return token;
      const failure = checkClaims(token, now()) ?? (await checkSignature(token, keys, { fetches }));
      if (failure) return failure;
      // If keys arrived meanwhile, it is unclear which ones verified the token: the entry of the old version is never used.
      cache.set(text, token, version);
      return token;
    },
  };
}

/** Verifies the signature of a token, with newer keys if its key is not known. Returns the failure; never rejects. */
export async function checkSignature(
  token: Token,
  source: KeySource,
  waiting: WaitingToken & { readonly fetches: number; readonly usesKnownKeys?: boolean },
): Promise<JwtFailure | undefined> {
  let keys: KeySet | JwtFailure | undefined = source.fresh() ?? (await source.get(waiting));
  for (;;) {
    if (typeof keys === 'string') return keys;
    const failure = await verifyWith(token, keys);
    // Keys may be replaced under the same id.
    const isUnknownKey = failure === 'noKey' || (waiting.trusted && failure === 'verificationFails');
    // No key is newer if the fetch of these began after the token arrived.
    if (!isUnknownKey || waiting.usesKnownKeys || source.isNewerThan(keys, waiting.fetches)) return failure;
    keys = await source.refetch(keys, waiting);
    if (!keys) return failure;
  }
}

async function verifyWith(token: Token, keys: KeySet): Promise<JwtFailure | undefined> {
  const candidates = keys.find(token.alg, token.kid);
  if (candidates.length === 0) return 'noKey';
  if (token.alg.startsWith('Ed') && !hasEd25519Length(token.text)) return 'ed25519Length';
  for (const candidate of candidates) {
    // Several keys may share a `kid`, or have none.
    if (await isSignedWith(token, candidate)) return undefined;
  }
  return 'verificationFails';
}

/** Returns true if a token was signed with a key. The key must fit the token's algorithm. */
export async function isSignedWith({ alg, text }: Pick<Token, 'alg' | 'text'>, { value }: Key): Promise<boolean> {
  // Large, and not needed without tokens.
  const { compactVerify } = await import('jose');
  return compactVerify(text, value, { algorithms: [alg] }).then(
    () => true,
    () => false,
  );
}

/** 64 bytes (RFC 8032 §5.1.6) are 86 characters. */
function hasEd25519Length(text: string): boolean {
  return text.length - text.lastIndexOf('.') - 1 === 86;
}
