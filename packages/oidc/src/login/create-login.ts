import type { AuthAllowed, AuthDecision, AuthMethod, AuthRequest, HeaderChange } from '@edge-gateway/core';
import { claimHeaders, claimMetadata } from '@edge-gateway/core/jwt';
import { codeOf } from '../error-codes.ts';
import { loginHeaders, removeForged } from '../http/login-headers.ts';
import { begin } from './begin.ts';
import { callback } from './callback.ts';
import { knownClaims } from './known-claims.ts';
import type { Login } from './login.ts';
import { errorResponse } from './error-response.ts';
import { isWithin } from './target.ts';
import { channelLogout } from '../logout/channel.ts';
import { logout } from '../logout/logout.ts';
import { hasEnded, type StoredSession } from '../session/session.ts';

/** Creates the auth method of a login from its parts. */
export function createLogin(login: Login): AuthMethod {
  const { settings, storage, log } = login;
  const grant = createGrant(login);

  async function decide(request: AuthRequest): Promise<AuthDecision> {
    const [path = '/'] = request.path.split('?', 1);
    if (settings.paths.isLogout(path)) return logout(login, request);
    if (settings.paths.isChannel(path)) return channelLogout(login, request);
    if (settings.paths.isCallback(path)) return callback(login, request);
    const loaded = storage.load(request).then(async (stored) => {
      const current = stored && (await login.renew(request, stored));
      return current && { ...current, stored: { ...stored, session: current.session } };
    });
    const renewed = await loaded.catch((error: unknown) => {
      // With tokens in cookies only the deny list can be unavailable, which a new login does not fix.
      if (codeOf(error) !== 'ERR_OIDC_STORE_UNAVAILABLE' || settings.failsOnFetch || storage.cannotLock) throw error;
      log.warn({ requestId: request.requestId, err: error }, 'session store unavailable, offering a new login');
      return undefined;
    });
    return renewed ? grant(request, renewed.stored, renewed.cookies) : begin(login, request);
  }

  return {
    async authorize(request) {
      if (settings.targetDomain && !isWithin(request.host.toLowerCase().replace(/:\d+$/, ''), settings.targetDomain))
        return { allowed: false, status: 403, reason: 'the host is not in targetDomain' };
      try {
        return await decide(request);
      } catch (error) {
        log.error({ requestId: request.requestId, err: error }, 'login unavailable');
        return { ...errorResponse(request, error), outcome: 'indeterminate' };
      }
    },
    close() {
      login.groups?.close();
      storage.close?.();
    },
    // A code exchange may take longer than the limit of an auth step; calls to provider and store have their own limits.
    local: true,
    bodyBytes: (request) =>
      request.method === 'POST' && settings.paths.isChannel(request.path.split('?', 1)[0]!) ? MAX_BODY_BYTES : 0,
  };
}

const MAX_BODY_BYTES = 65_536;

type Grant = (request: AuthRequest, stored: StoredSession, cookies: readonly string[]) => Promise<AuthAllowed>;

/** Creates the function that adds a session to a request: tokens and claims as headers, state for later steps, metadata. */
function createGrant(login: Login): Grant {
  const { block } = login;
  const { idTokenHeader, accessTokenHeader, useBearerSchemaForAuthorization } = block.headers ?? {};
  const idRules = block.identityToken?.claimsToHeaders ?? [];
  const accessRules = block.accessToken?.claimsToHeaders ?? [];
  const own = loginHeaders(block);

  function tokenChange(header: string | undefined, token: string | undefined): HeaderChange[] {
    return header && token ? [{ op: 'set', name: header.toLowerCase(), value: token }] : [];
  }

  /** A session that can be renewed outlives its tokens. */
  async function isOpen(stored: StoredSession): Promise<boolean> {
    const current = await login.storage.reload(stored);
    if (!current) return false;
    const isRenewable = login.allowRefreshing && current.session.refreshToken !== undefined;
    return isRenewable || !hasEnded(current.session, login.now());
  }

  return async (request, stored, cookies) => {
    const { session } = stored;
    const { id: claims, access } = await knownClaims(login, session);
    const metadata = claims && claimMetadata(claims, block.dynamicMetadataFromClaims ?? {});
    const bearer = useBearerSchemaForAuthorization ? `Bearer ${session.accessToken}` : session.accessToken;
    return {
      allowed: true,
      requestChanges: [
        ...(own.size > 0 ? removeForged(request, own) : []),
        ...tokenChange(idTokenHeader, session.idToken),
        ...tokenChange(accessTokenHeader, session.accessToken && bearer),
        ...claimHeaders(claims ?? {}, idRules),
        ...claimHeaders(access ?? {}, accessRules),
      ],
      responseChanges: cookies.map((value) => ({ op: 'append', name: 'set-cookie', value })),
      userId: claims?.sub,
      ...(claims && { claims }),
      isSessionOpen: () => isOpen(stored),
      ...(block.logoutPath && { logoutPath: block.logoutPath }),
      ...(session.idToken !== undefined && { state: { jwt: session.idToken } }),
      ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
    };
  };
}
