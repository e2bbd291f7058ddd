import { digest, type AuthDenied, type AuthRequest } from '@edge-gateway/core';
import { codeOf, failure } from '../failure.ts';
import type { Login } from '../login/login.ts';
import { cookieHeaders } from '../login/page.ts';
import { forgetRounds } from '../login/rounds.ts';
import { claimsOf, indexKeys } from '../session/session.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** A logout token is taken for so long after it was issued. */
const MAX_AGE = '2m';

/** The path that the provider calls: GET in a frame of the browser (front channel), POST from its server (back channel). */
export function channelLogout(login: Login, request: AuthRequest): Promise<AuthDenied> {
  return request.method === 'POST' ? backChannel(login, request) : frontChannel(login, request);
}

function answer(status: number, reason: string, headers: readonly string[] = []): AuthDenied {
  const body =
    status < 400 ? '' : JSON.stringify({ error: status === 400 ? 'invalid_request' : 'temporarily_unavailable' });
  const type = body ? ['content-type', 'application/json'] : [];
  return { allowed: false, status, headers: ['cache-control', 'no-store', ...type, ...headers], body, reason };
}

/** OpenID Connect Front-Channel Logout 1.0: this browser's session, and with `sid` all that the provider's session led to. */
async function frontChannel(login: Login, request: AuthRequest): Promise<AuthDenied> {
  const query = new URLSearchParams(request.path.split('?', 2)[1] ?? '');
  const iss = query.get('iss');
  const sid = query.get('sid');
  const { issuer } = await login.provider.metadata();
  if (iss !== null && iss !== issuer) return answer(400, 'front channel: another issuer');
  const held = await login.keeper.load(request);
  const claims = claimsOf(held?.session.idToken);
  if (sid !== null && iss !== null) await login.keeper.removeAll?.(indexKeys({ iss, sid }));
  if (!held || (sid !== null && claims?.sid !== sid)) return answer(200, 'front channel: no session here');
  const cookies = await login.keeper.remove(request, held);
  await login.endRenewals(held.session);
  await login.keeper.removeAgain?.(held);
  return answer(200, 'front channel logout', cookieHeaders([...cookies, forgetRounds(login.settings)]));
}

/** OpenID Connect Back-Channel Logout 1.0. Cookie sessions cannot be ended from afar: 501. */
async function backChannel(login: Login, request: AuthRequest): Promise<AuthDenied> {
  if (!login.keeper.removeAll) return answer(501, 'back channel: sessions are kept in cookies');
  const token = new URLSearchParams(request.body?.toString('utf8') ?? '').get('logout_token');
  try {
    const keys = await verifyLogoutToken(login, token ?? '');
    await login.keeper.removeAll(keys);
    return answer(200, 'back channel logout');
  } catch (error) {
    login.log.warn({ requestId: request.requestId, err: error }, 'back-channel logout refused');
    const invalid = codeOf(error) === 'ERR_OIDC_TOKEN_INVALID';
    return answer(invalid ? 400 : 503, 'back channel: refused', invalid ? [] : ['retry-after', '1']);
  }
}

async function verifyLogoutToken(login: Login, token: string): Promise<readonly string[]> {
  const expected = {
    audience: login.settings.clientId,
    maxTokenAge: MAX_AGE,
    requiredClaims: ['iat', 'jti', 'events'],
  };
  const typ = typeOf(token);
  if (typ !== undefined && typ !== 'jwt' && typ !== 'logout+jwt') throw refused('typ');
  const claims = await login.verifier.verify(token, { ...expected, fresh: false });
  const { events } = claims;
  const event = typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[EVENT] : undefined;
  if (typeof event !== 'object' || event === null) throw refused('events');
  if (claims.nonce !== undefined) throw refused('nonce');
  const used = digest(JSON.stringify(['logout', claims.iss, claims.jti]));
  if (login.used.get(used)) throw refused('jti');
  // With a session, only that one ends; with a subject alone, all of its sessions (section 2.6).
  const [first] = indexKeys(claims);
  if (first === undefined) throw refused('sub and sid');
  login.used.set(used, true);
  return [first];
}

function typeOf(token: string): string | undefined {
  try {
    const { typ } = JSON.parse(Buffer.from(token.split('.', 1)[0]!, 'base64url').toString('utf8')) as { typ?: unknown };
    return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : undefined;
  } catch {
    throw refused('format');
  }
}

function refused(claim: string): Error {
  return failure('ERR_OIDC_TOKEN_INVALID', `logout token: ${claim}`);
}
