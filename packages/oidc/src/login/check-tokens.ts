import { createHash } from 'node:crypto';
import { decodeProtectedHeader, type JWTPayload } from 'jose';
import { failure } from '../failure.ts';
import type { Login } from './login.ts';
import { claimsOf } from '../session/session.ts';
import type { LoginBlock } from './settings.ts';

export interface CheckParts {
  readonly openid: boolean;
  readonly verifier: Login['verifier'];
  readonly clientId: string;
  /** See {@link verifiesAccess}. */
  readonly verifyAccess: boolean;
}

/** The id token of a login was made just now; one that is older, or of the future, is of a clock that is wrong. */
const NEW_TOKEN_SECONDS = 120;

/** Checks that tokens are the provider's, for this client, and belong together. */
export function createCheck({ openid, verifier, clientId, verifyAccess }: CheckParts): Login['check'] {
  const refuse = (detail: string): never => {
    throw failure('ERR_OIDC_TOKEN_INVALID', detail);
  };
  return async (session, { fresh, nonce }) => {
    if (!openid) return;
    const { idToken = '', accessToken } = session;
    const expected = { audience: clientId, requiredClaims: ['exp', 'iat', 'sub'] };
    // One that is only too old may be renewed.
    const currentDate = fresh ? undefined : new Date((claimsOf(idToken)?.iat ?? 0) * 1000);
    const claims = await verifier.verify(idToken, {
      ...expected,
      fresh,
      ...(currentDate && { currentDate }),
      ...(nonce !== undefined && { maxTokenAge: NEW_TOKEN_SECONDS }),
    });
    // A token of another kind, which another client may hold, is no login, whatever its audience.
    if (!fresh && isOtherKind(idToken, claims, clientId)) refuse('the id token is none');
    if (claims.azp !== undefined && claims.azp !== clientId) refuse('the id token is for another party');
    if (Array.isArray(claims.aud) && claims.aud.length > 1 && claims.azp === undefined)
      refuse('the id token has no azp');
    if (nonce !== undefined && claims.nonce !== nonce) refuse('the nonce is another');
    if (typeof claims.at_hash === 'string' && accessToken && claims.at_hash !== halfHash(accessToken, idToken))
      refuse('the access token is not the one of the id token');
    if (!verifyAccess || fresh || !accessToken || !claimsOf(accessToken)) return;
    const access = await verifier.verify(accessToken, { fresh, ...(currentDate && { currentDate }) });
    if (typeof claims.at_hash !== 'string' && !belongs(access, { clientId, sub: claims.sub }))
      refuse('the access token is of another client or user');
  };
}

/** Whether a token says by its type (RFC 8725, 3.11) that it is no id token, or is an access token of another client. */
function isOtherKind(token: string, { client_id: client }: JWTPayload, clientId: string): boolean {
  const { typ } = decodeProtectedHeader(token);
  return /\+jwt$/i.test(typ ?? '') || (typeof client === 'string' && client !== clientId);
}

/** Claims in which providers name the client that an access token was given to; the second is of RFC 9068. */
const CLIENT_CLAIMS = ['azp', 'client_id', 'appid', 'cid'];

/** Whether an access token that no `at_hash` ties to the id token was given to this client, or at least to this user. */
function belongs(access: JWTPayload, login: { readonly clientId: string; readonly sub: string | undefined }): boolean {
  const named = CLIENT_CLAIMS.map((name) => access[name]).find((value) => typeof value === 'string');
  return named === undefined ? access.sub === undefined || access.sub === login.sub : named === login.clientId;
}

/** `at_hash` (OpenID Connect Core 3.1.3.6): the left half of the token's hash, by the algorithm of the id token. */
function halfHash(token: string, idToken: string): string {
  const { alg } = JSON.parse(Buffer.from(idToken.split('.', 1)[0]!, 'base64url').toString('utf8')) as { alg: string };
  const bits = /^(?:RS|PS|ES)(256|384|512)$/.exec(alg)?.[1] ?? '512';
  const hash = createHash(`sha${bits}`).update(token).digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
}

/** Claims of the access token become headers, so a browser must not have written it. */
export function verifiesAccess({ accessToken }: LoginBlock): boolean {
  return Boolean(accessToken?.claimsToHeaders?.length);
}
