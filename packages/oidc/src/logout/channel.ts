import type { ServerMetadata } from 'openid-client';
import { digest, type AuthDenied, type AuthRequest } from '@edge-gateway/core';
import { codeOf, failure } from '../error-codes.ts';
import type { Login } from '../login/login.ts';
import { LOGOUT_TOKEN_SECONDS } from '../provider/verify.ts';
import { cookieHeaders } from '../login/page.ts';
import { forgetLogins } from '../login/rounds.ts';
import { claimsOf, indexKeys } from '../session/session.ts';
import { isFromOtherSite } from './logout.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Handles the provider's calls: GET from a frame in the browser (front channel), POST from its server (back channel). */
export function channelLogout(login: Login, request: AuthRequest): Promise<AuthDenied> {
  return request.method === 'POST' ? backChannel(login, request) : frontChannel(login, request);
}

function respond(status: number, reason: string, headers: readonly string[] = []): AuthDenied {
  const body =
    status < 400 ? '' : JSON.stringify({ error: status === 400 ? 'invalid_request' : 'temporarily_unavailable' });
  const type = body ? ['content-type', 'application/json'] : [];
  return { allowed: false, status, headers: ['cache-control', 'no-store', ...type, ...headers], body, reason };
}

/**
 * OpenID Connect Front-Channel Logout 1.0: ends only the session of the requesting browser. Anyone can make this
 * request, and `sid` is known to every client of the provider.
 */
async function frontChannel(login: Login, request: AuthRequest): Promise<AuthDenied> {
  const query = new URLSearchParams(request.path.split('?', 2)[1] ?? '');
  const [iss, sid] = [query.getAll('iss'), query.getAll('sid')];
  // Section 2: if either is included, both must be.
  if (iss.length !== sid.length || iss.length > 1)
    return respond(400, 'front channel: send both iss and sid, or neither');
  const metadata = await login.provider.metadata();
  if (iss.length === 1 && iss[0] !== metadata.issuer) return respond(400, 'front channel: unknown issuer');
  const isNamed = iss.length === 1;
  if (!isNamed && isFromOtherSite(request) && !isFromProvider(request, metadata))
    return respond(400, 'front channel: cross-site request without iss and sid');
  const sessions = await login.storage.loadAll(request);
  if (sessions.length === 0) return respond(200, 'front channel: the browser sent no session');
  const stored = sessions.find(({ session }) => !isNamed || claimsOf(session.idToken)?.sid === sid[0]);
  if (!stored) return respond(200, 'front channel: sid does not match the session');
  const cookies = await login.storage.remove(request, stored);
  await login.endRenewals(stored.session);
  await login.storage.removeAgain?.(stored);
  if (isNamed) await login.storage.removeAll?.(indexKeys({ iss: iss[0]!, sid: sid[0]! }));
  return respond(200, 'front channel logout', cookieHeaders([...cookies, forgetLogins(login.settings)]));
}

/** Returns true if a page of the provider caused the request: no other page can send this `Referer`. */
function isFromProvider(request: AuthRequest, { issuer, ...metadata }: ServerMetadata): boolean {
  const from = originOf(request.header('referer'));
  const own = [issuer, metadata.authorization_endpoint, metadata.end_session_endpoint].map(originOf);
  return from !== undefined && own.includes(from);
}

function originOf(url: string | undefined): string | undefined {
  return URL.parse(url ?? '')?.origin;
}

/** OpenID Connect Back-Channel Logout 1.0. Sessions in cookies and in `req.session` cannot be found by their user: 501. */
async function backChannel(login: Login, request: AuthRequest): Promise<AuthDenied> {
  const { removeAll, runOnce } = login.storage;
  if (!removeAll || !runOnce) return respond(501, 'back channel: sessions are not in a store of the login');
  const token = new URLSearchParams(request.body?.toString('utf8') ?? '').get('logout_token');
  try {
    const { id, keys } = await verifyLogoutToken(login, token ?? '');
    // The token counts as used once the sessions are removed, so that the provider can repeat a logout that failed.
    if (!(await runOnce(id, () => removeAll(keys)))) throw invalidToken('jti');
    return respond(200, 'back channel logout');
  } catch (error) {
    login.log.warn({ requestId: request.requestId, err: error }, 'back-channel logout rejected');
    const invalid = codeOf(error) === 'ERR_OIDC_TOKEN_INVALID';
    return respond(invalid ? 400 : 503, 'back channel: rejected', invalid ? [] : ['retry-after', '1']);
  }
}

/** Returns the keys of the sessions that a token ends, and an id that is the same for each use of the token. */
async function verifyLogoutToken(login: Login, token: string): Promise<{ id: string; keys: readonly string[] }> {
  const { payload: claims } = await login.verifier.verify(token, {
    fresh: false,
    audiences: [login.settings.clientId],
    isType: (typ) => typ === undefined || /^(?:application\/)?(?:logout\+)?jwt$/i.test(typ),
    maxAgeSeconds: LOGOUT_TOKEN_SECONDS,
    requiredClaims: ['iat', 'jti', 'events'],
  });
  const { events } = claims;
  const event = typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[EVENT] : undefined;
  if (typeof event !== 'object' || event === null) throw invalidToken('events');
  if ((claims.nonce ?? undefined) !== undefined) throw invalidToken('nonce');
  // With a session, only that one ends; with a subject alone, all of its sessions (section 2.6).
  const [first] = indexKeys(claims);
  if (first === undefined) throw invalidToken('sub and sid');
  return { id: digest(JSON.stringify(['logout', claims.iss, claims.jti])), keys: [first] };
}

function invalidToken(claim: string): Error {
  return failure('ERR_OIDC_TOKEN_INVALID', `logout token: ${claim}`);
}
