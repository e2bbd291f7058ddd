import { createHash } from 'node:crypto';
import { digest } from '@edge-gateway/core';
import type { Claims } from '@edge-gateway/core/jwt';
import { failure } from '../error-codes.ts';
import { createExpiringMap } from '../session/expiring.ts';
import type { Login, TokenMemory } from './login.ts';
import { claimsOf, type Session } from '../session/session.ts';
import type { LoginBlock, LoginParts } from './settings.ts';

/** Requirements for the tokens of a session. */
export interface Expected {
  /** True for tokens that came from the provider itself. */
  readonly fresh: boolean;
  readonly nonce?: string;
}

/** Rejects if the provider did not issue the tokens for this client, or if they do not belong together. */
export async function checkTokens(
  { openid, verifier, settings: { clientId }, block }: Pick<Login, 'openid' | 'verifier' | 'settings' | 'block'>,
  { idToken = '', accessToken }: Session,
  { fresh, nonce }: Expected,
): Promise<void> {
  if (!openid) return;
  // An expired token may be renewed.
  const at = fresh ? undefined : (claimsOf(idToken)?.iat ?? 0) * 1000;
  const { payload: claims, alg } = await verifier.verify(idToken, {
    fresh,
    audiences: [clientId],
    requiredClaims: ['exp', 'iat', 'sub'],
    ...(at !== undefined && { at, isType: isIdTokenType }),
    // The nonce, not its age, shows that the token was issued for this login: Microsoft Entra sets `iat` five minutes back.
    ...(nonce !== undefined && { issuedAt: 'past' }),
  });
  // Another client may hold a token of another kind, so it is not accepted as an id token, whatever its audience.
  const { client_id: client = clientId } = claims;
  if (!fresh && typeof client === 'string' && client !== clientId) reject('not an id token');
  const azp = claims.azp ?? clientId;
  if (azp !== clientId) reject('azp of the id token is another client');
  if (Array.isArray(claims.aud) && claims.aud.length > 1 && claims.azp !== clientId)
    reject('the id token has several audiences but no azp');
  if (nonce !== undefined && claims.nonce !== nonce) reject('nonce mismatch');
  if (typeof claims.at_hash === 'string' && accessToken && claims.at_hash !== halfHash(accessToken, alg))
    reject('at_hash does not match the access token');
  if (!verifiesAccess(block) || fresh || !accessToken || !claimsOf(accessToken)) return;
  const access = await verifier.verify(accessToken, { fresh, ...(at !== undefined && { at }) });
  if (typeof claims.at_hash !== 'string' && !belongs(access.payload, { clientId, sub: claims.sub }))
    reject('the access token belongs to another client or user');
}

function reject(detail: string): never {
  throw failure('ERR_OIDC_TOKEN_INVALID', detail);
}

/** RFC 8725 §3.11: types of other tokens end with `+jwt`. */
const isIdTokenType = (typ: string | undefined): boolean => !/\+jwt$/i.test(typ ?? '');

/** Claims in which providers name the client of an access token; the second one is defined in RFC 9068. */
const CLIENT_CLAIMS = ['azp', 'client_id', 'appid', 'cid'];

/** Returns true if an access token without `at_hash` was issued to this client, or names none and belongs to this user. */
function belongs(access: Claims, login: { readonly clientId: string; readonly sub: unknown }): boolean {
  const named = CLIENT_CLAIMS.map((name) => access[name]).find((value) => typeof value === 'string');
  return named === undefined ? access.sub === undefined || access.sub === login.sub : named === login.clientId;
}

/** Returns the `at_hash` of a token (OpenID Connect Core 3.1.3.6): the left half of its hash, with the algorithm of the id token. */
function halfHash(token: string, alg: string): string {
  const bits = /^(?:RS|PS|ES)(256|384|512)$/.exec(alg)?.[1] ?? '512';
  const hash = createHash(`sha${bits}`).update(token).digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
}

/** Returns true if claims of the access token become headers, so that its signature must be verified. */
function verifiesAccess({ accessToken }: LoginBlock): boolean {
  return Boolean(accessToken?.claimsToHeaders?.length);
}

const GOOD_MS = 3_600_000;

/** Creates a check that remembers valid tokens, also when the provider's keys change, but not for a check with other settings. */
export function rememberChecked(check: TokenMemory['check'], { context, id, block }: LoginParts): TokenMemory {
  const { now } = context;
  const { issuerUrl, clientId, discoveryOverride } = block;
  const checked = [issuerUrl, clientId, discoveryOverride, verifiesAccess(block)];
  const verifiedTokens = context.state(`oidc:verifiedTokens:${id}`, () =>
    createExpiringMap<true>({ max: 10_000, ttlMs: GOOD_MS, now }),
  );
  const keyOf = ({ idToken, accessToken }: Session): string => digest(JSON.stringify([checked, idToken, accessToken]));
  return {
    async check(session) {
      if (verifiedTokens.get(keyOf(session))) return;
      await check(session);
      verifiedTokens.set(keyOf(session), true);
    },
    accept: (session) => verifiedTokens.set(keyOf(session), true),
  };
}
