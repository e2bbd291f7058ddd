import { escapeHtml, keyedDigest, SWITCH_ACCOUNT, type AuthDenied, type AuthRequest } from '@edge-gateway/core';
import { rethrowUnavailableStore } from '../error-codes.ts';
import { isEqual } from '../is-equal.ts';
import { beginSwitch } from '../login/begin.ts';
import { cannotFollowLogin } from '../login/error-response.ts';
import { cookieHeaders, page, redirectTo } from '../login/page.ts';
import type { Login } from '../login/login.ts';
import { forgetLogins } from '../login/rounds.ts';
import type { StoredSession, Session } from '../session/session.ts';

/** Servers reject longer URLs; a form replaces them. */
const MAX_URL_LENGTH = 6000;
const METHODS = new Set(['GET', 'HEAD', 'POST']);

/**
 * Logs out: removes the session, revokes its tokens, ends the session at the provider, and redirects to `afterLogoutUrl`.
 * Throws `ERR_OIDC_STORE_UNAVAILABLE` if the store is unavailable: the cookie stays, so that the logout can be repeated.
 * If another site may have caused the request, a page asks first, so that a link or an image logs nobody out.
 * With `switch_account` the browser is redirected to a new login instead, in which the provider asks for the account.
 */
export async function logout(login: Login, request: AuthRequest): Promise<AuthDenied> {
  if (!METHODS.has(request.method))
    return { allowed: false, status: 405, headers: ['allow', 'GET, HEAD, POST'], reason: 'method' };
  const sessions = (await login.storage.loadAll(request).catch(rethrowUnavailableStore)) ?? [];
  const [stored, ...others] = sessions;
  if (stored && isFromOtherSite(request) && !isConfirmed(login, request, sessions))
    return confirm(request, confirmationOf(login.settings.stateKeys[0]!, login, sessions));
  const newLogin = await switchOf(login, request);
  const cookies = await login.storage.remove(request, stored);
  // A session under another value of the cookie would log the user in again.
  for (const other of others) await login.storage.remove(request, other);
  for (const each of sessions) await revoke(login, request, await newestOf(login, each));
  const all = [...cookies, forgetLogins(login.settings)];
  if (newLogin) return { ...newLogin, headers: [...(newLogin.headers ?? []), ...cookieHeaders(all)] };
  return (await endAtProvider(login, stored, all)) ?? redirectTo(login.settings.afterLogoutUrl, all, 'logged out');
}

/** Begins the login with another account, if the request asks for it: before the logout, which an unavailable provider then prevents. */
async function switchOf(login: Login, request: AuthRequest): Promise<AuthDenied | undefined> {
  const path = new URLSearchParams(request.path.split('?', 2)[1] ?? '').get(SWITCH_ACCOUNT);
  return path === null || cannotFollowLogin(request) ? undefined : beginSwitch(login, request, path);
}

/**
 * Returns true for a request that another site or a sibling host may have caused: a link or an image must not log users out.
 * Browsers send no `Sec-Fetch-Site` over plain http, and old ones never do; they send `Origin` with every POST.
 */
export function isFromOtherSite(request: AuthRequest): boolean {
  const site = request.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const from = request.header('origin') ?? request.header('referer');
  if (from === undefined) return request.method !== 'POST';
  // An opaque origin is `null`.
  const url = URL.parse(from);
  return url === null || url.host !== URL.parse(`${url.protocol}//${request.host}`)?.host;
}

const CONFIRMATION = 'confirm';

/**
 * Returns the parameter that confirms the logout of a browser. It depends on all of its sessions: a sibling host may add the
 * cookie of a session of its own, whose parameter it knows.
 */
function confirmationOf(key: Uint8Array, { settings }: Login, sessions: readonly StoredSession[]): string {
  return keyedDigest(key, JSON.stringify(['logout', settings.id, ...sessions.map(({ id }) => id).sort()]));
}

function isConfirmed(login: Login, request: AuthRequest, sessions: readonly StoredSession[]): boolean {
  const given = new URLSearchParams(request.path.split('?', 2)[1] ?? '').get(CONFIRMATION) ?? '';
  return login.settings.stateKeys.some((key) => isEqual(given, confirmationOf(key, login, sessions)));
}

/** Returns the page that asks for a confirmation; its link is the request with the parameter. */
function confirm(request: AuthRequest, confirmation: string): AuthDenied {
  const [path = '/', query = ''] = request.path.split('?', 2);
  const asked = new URLSearchParams(query).get(SWITCH_ACCOUNT);
  const parameters = new URLSearchParams(asked === null ? {} : { [SWITCH_ACCOUNT]: asked });
  parameters.set(CONFIRMATION, confirmation);
  return page({
    templates: ['log-out'],
    status: 403,
    title: 'Log out?',
    message: 'Another site may have requested to log you out.',
    links: [{ href: `${path}?${parameters}`, text: 'Log out' }],
    reason: 'logout requested by another site',
  });
}

/** Ends renewals of the session and returns the newest tokens: earlier ones are used up. */
async function newestOf({ storage, endRenewals }: Login, stored: StoredSession): Promise<Session> {
  const renewed = await endRenewals(stored.session);
  return (await storage.removeAgain?.(stored)) ?? renewed;
}

/** Revokes tokens at the provider. If that fails, the logout still succeeds. */
async function revoke(login: Login, request: AuthRequest, session: Session): Promise<void> {
  const tokens = [session.refreshToken, session.accessToken].filter((token) => token !== undefined && token !== '');
  const results = await Promise.allSettled(tokens.map((token) => login.client.revoke(token!)));
  for (const result of results) {
    if (result.status === 'rejected')
      login.log.warn({ requestId: request.requestId, err: result.reason }, 'failed to revoke a token');
  }
}

async function endAtProvider(
  login: Login,
  stored: StoredSession | undefined,
  cookies: readonly string[],
): Promise<AuthDenied | undefined> {
  if (!stored) return undefined;
  const metadata = await login.provider.metadata().catch(() => undefined);
  if (!metadata?.end_session_endpoint) return undefined;
  const { methodType, idTokenHint } = login.block.endSessionProperties ?? {};
  const parameters = {
    client_id: login.settings.clientId,
    post_logout_redirect_uri: login.settings.afterLogoutUrl,
    ...(idTokenHint && stored.session.idToken !== undefined && { id_token_hint: stored.session.idToken }),
  };
  const url = new URL(metadata.end_session_endpoint);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const byPost = methodType === 'PostMethod' || url.href.length > MAX_URL_LENGTH;
  if (!byPost) return redirectTo(url.href, cookies, 'logged out');
  return formPage(metadata.end_session_endpoint, parameters, cookies);
}

/** A form that requires a click: login pages run no scripts. */
function formPage(action: string, parameters: Record<string, string>, cookies: readonly string[]): AuthDenied {
  const inputs = Object.entries(parameters)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
    .join('');
  return page({
    templates: ['logged-out'],
    status: 200,
    title: 'You are logged out here',
    message: 'You may still be logged in at the identity provider.',
    html: `<form method="post" action="${escapeHtml(action)}">${inputs}<button>Log out at the identity provider too</button></form>`,
    reason: 'logged out',
    headers: cookieHeaders(cookies),
    formAction: '*',
  });
}
