import { escapeHtml, type AuthDenied, type AuthRequest } from '@edge-gateway/core';
import { codeOf, rethrowUnavailableStore } from '../error-codes.ts';
import { toSession, type Session } from '../session/session.ts';
import { isClockProblem } from '../provider/verify.ts';
import { checkTokens } from './check-tokens.ts';
import { endAttempt, resumeAttempt, type Attempt } from './attempt.ts';
import { knownClaims } from './known-claims.ts';
import type { Login } from './login.ts';
import { cookieHeaders, page, redirectTo } from './page.ts';
import { extraParameters, sessionHeaderOf } from './parameters.ts';
import { callbackError, clockError, errorResponse } from './error-response.ts';
import { rememberLogins } from './rounds.ts';

const ONCE = ['code', 'state', 'iss', 'error'] as const;
/** Parameters of responses that the login never requests: a browser, and not the provider, has added them. */
const UNREQUESTED = ['response', 'id_token', 'token'] as const;

/** Completes a login when the provider redirects the browser back with a code. Every failure is a page with a link to continue. */
export async function callback(login: Login, request: AuthRequest): Promise<AuthDenied> {
  const url = new URL(login.settings.redirectUri);
  url.search = request.path.includes('?') ? request.path.slice(request.path.indexOf('?')) : '';
  const state = url.searchParams.get('state') ?? '';
  const again = login.settings.appUrl.href;
  const failed = (reason: string, link: string, message?: string): AuthDenied =>
    callbackError(request, { code: 'ERR_OIDC_LOGIN_FAILED', reason, again: link, message });
  const isMalformed =
    request.method !== 'GET' ||
    ONCE.some((name) => url.searchParams.getAll(name).length > 1) ||
    UNREQUESTED.some((name) => url.searchParams.has(name));
  if (isMalformed) return failed('malformed callback', again);
  const resumed = resumeAttempt(request, login.settings, { state, now: login.now() });
  if (!resumed) return failed('unknown state', again);
  const { bound, target, isExpired } = resumed;
  if (isExpired) return failed('the state has expired', target, 'The login took too long; start again.');
  if (!bound) return failed('the state belongs to another browser or was used', target);
  if (login.usedAttempts.get(bound.cookieName)) return failed('the state was already used', target);
  login.usedAttempts.set(bound.cookieName, true);
  const sent = { url, state, attempt: bound };
  if (!url.searchParams.has('code') && !url.searchParams.has('error'))
    return failed('the response has no code', target);
  if (!(await isFromIssuer(login, url.searchParams.get('iss'))))
    return failed('the response names another issuer', target);
  return finish(login, request, sent).catch((error: unknown) => unfinished(login, error, { request, attempt: bound }));
}

/** RFC 9207: returns false for a response of another provider, as in a mix-up attack. An unavailable provider is reported later. */
async function isFromIssuer({ openid, provider }: Login, iss: string | null): Promise<boolean> {
  const metadata = openid ? await provider.metadata().catch(() => undefined) : undefined;
  if (!metadata) return true;
  return iss === null ? !metadata.authorization_response_iss_parameter_supported : iss === metadata.issuer;
}

interface Callback {
  readonly url: URL;
  readonly state: string;
  readonly attempt: Attempt;
}

async function finish(login: Login, request: AuthRequest, { url, state, attempt }: Callback): Promise<AuthDenied> {
  const { block, settings, storage, openid } = login;
  const future = storage.newHandle?.();
  const response = await login.client
    .exchange({
      url,
      state,
      nonce: openid ? attempt.nonce : undefined,
      verifier: attempt.verifier,
      parameters: extraParameters(block, 'tokenEndpointQueryParams', request),
      headers: sessionHeaderOf(settings, future),
    })
    .catch((error: unknown) => allowRetry(login, error, attempt));
  const session: Session = toSession(response, login.now());
  await checkTokens(login, session, { fresh: true, nonce: attempt.nonce });
  await knownClaims(login, session);
  const before = await storage.load(request).catch(rethrowUnavailableStore);
  const cookies = [
    ...(await storage.create(request, session, { handle: future?.handle, before })),
    endAttempt(settings, attempt),
    rememberLogins(settings, attempt.consecutiveLogins + 1),
  ];
  // A concurrent renewal may write the previous session again.
  if (before)
    storage.removeAgain?.(before).catch((err: unknown) => login.log.warn({ err }, 'failed to remove old session'));
  if (settings.cookie.sameSite === 'Strict') return sameSiteStep(attempt.target, cookies);
  return redirectTo(attempt.target, cookies, 'logged in');
}

/** After a timeout the code may be unused, so the same callback may be tried again. */
function allowRetry(login: Login, error: unknown, { cookieName }: Attempt): never {
  if (codeOf(error) === 'ERR_OIDC_PROVIDER_TIMEOUT') {
    login.usedAttempts.delete(cookieName);
    login.usedAttempts.set(lateKey(cookieName), true);
  }
  throw error;
}

const lateKey = (cookieName: string): string => `late ${cookieName}`;

/** Browsers send no strict cookies with a redirect from the provider; a page of this site starts a same-site navigation. */
function sameSiteStep(target: string, cookies: readonly string[]): AuthDenied {
  return page({
    templates: ['logged-in'],
    status: 200,
    title: 'Logged in',
    message: '',
    html: `<meta http-equiv="refresh" content="0;url=${escapeHtml(target)}">`,
    links: [{ href: target, text: 'Continue' }],
    reason: 'logged in',
    headers: cookieHeaders(cookies),
  });
}

function unfinished(
  login: Login,
  error: unknown,
  { request, attempt }: { readonly request: AuthRequest; readonly attempt: Attempt },
): AuthDenied {
  const code = codeOf(error);
  const isClock = isClockProblem(error);
  login.log.warn({ requestId: request.requestId, ...(isClock && { reason: 'clock' }), err: error }, 'login failed');
  const endCookie = endAttempt(login.settings, attempt);
  const ended = cookieHeaders([endCookie]);
  const again = attempt.target;
  const reason = (error as Error).message;
  if (!login.usedAttempts.get(attempt.cookieName)) return errorResponse(request, error);
  switch (code) {
    case 'ERR_OIDC_TOKEN_INVALID':
    case 'ERR_OIDC_LOGIN_FAILED':
      if (isClock) return clockError(request, reason, again, ended);
      return callbackError(request, { code, reason, again, status: 403, headers: ended });
    case 'ERR_OIDC_GRANT_REFUSED':
      // The code was used up by the call that timed out. A user who is logged in at the provider gets a new one without a click.
      if (login.usedAttempts.get(lateKey(attempt.cookieName)))
        return redirectTo(again, [endCookie], 'code already used, starting again');
      return callbackError(request, { code: 'ERR_OIDC_LOGIN_FAILED', reason, again, headers: ended });
    case undefined:
      throw error;
    default:
      return callbackError(request, { code, reason, again, headers: ended });
  }
}
