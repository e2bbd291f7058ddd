import type { JwtProvider } from '@edge-gateway/core/schema';
import type { JwtFailure } from './jwt-status.ts';
import type { KeySet } from './key-set.ts';
import type { KeySource } from './key-source.ts';
import { isSignedWith } from './signature.ts';
import { parseToken, type Token } from './token.ts';

/** Tolerance for `exp` and `nbf` unless the provider says otherwise. */
export const DEFAULT_CLOCK_SKEW_SECONDS = 60;

/** What one provider demands of the claims of a token. */
export interface ClaimChecks {
  /** Empty: any. */
  readonly issuer: string;
  /** Normalised, see {@link normalAudience}; empty: any. */
  readonly audiences: readonly string[];
  readonly clockSkewSeconds: number;
}

/** What one provider demands of a token. */
export interface Checks extends ClaimChecks {
  readonly keys: KeySource;
}

/** What the fields of a provider say of claims. */
export function claimChecksOf({ issuer = '', audiences = [], clockSkewSeconds }: JwtProvider): ClaimChecks {
  return {
    issuer,
    audiences: audiences.map(normalAudience),
    clockSkewSeconds: clockSkewSeconds ?? DEFAULT_CLOCK_SKEW_SECONDS,
  };
}

/** Audiences are compared without scheme and without a slash at the end (reference: security 2.2). */
function normalAudience(audience: string): string {
  return audience.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

/** Verifies a token: form, issuer, time, audience, then signature. Gives the token or how it fails. */
export async function verifyToken(text: string, checks: Checks, now: number): Promise<Token | JwtFailure> {
  const token = parseToken(text);
  if (typeof token === 'string') return token;
  return checkClaims(token, checks, now) ?? (await checkSignature(token, checks.keys)) ?? token;
}

/** What is wrong with the claims, if anything. */
export function checkClaims(token: Token, checks: ClaimChecks, now: number): JwtFailure | undefined {
  if (checks.issuer !== '' && token.iss !== checks.issuer) return 'unknownIssuer';
  const seconds = now / 1000;
  if (token.nbf !== undefined && token.nbf - checks.clockSkewSeconds > seconds) return 'notYetValid';
  if (token.exp !== undefined && token.exp + checks.clockSkewSeconds < seconds) return 'expired';
  if (checks.audiences.length === 0) return undefined;
  return token.audiences.some((each) => checks.audiences.includes(normalAudience(each)))
    ? undefined
    : 'audienceNotAllowed';
}

async function checkSignature(token: Token, source: KeySource): Promise<JwtFailure | undefined> {
  const keys = source.fresh() ?? (await source.get());
  if (typeof keys === 'string') return keys;
  const failure = await verifyWith(token, keys);
  if (failure !== 'noKey') return failure;
  const newer = await source.refetch(keys);
  return newer ? verifyWith(token, newer) : failure;
}

async function verifyWith(token: Token, keys: KeySet): Promise<JwtFailure | undefined> {
  const candidates = keys.find(token.alg, token.kid);
  if (candidates.length === 0) return 'noKey';
  if (token.alg === 'EdDSA' && !hasEd25519Length(token.text)) return 'ed25519Length';
  for (const candidate of candidates) {
    // The next key may fit: several may share a `kid`, or have none.
    if (await isSignedWith(token, candidate)) return undefined;
  }
  return 'verificationFails';
}

/** 64 bytes (RFC 8032 §5.1.6) are 86 characters. */
function hasEd25519Length(text: string): boolean {
  return text.length - text.lastIndexOf('.') - 1 === 86;
}
