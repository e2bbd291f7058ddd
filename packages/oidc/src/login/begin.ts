import { calculatePKCECodeChallenge, type ServerMetadata } from 'openid-client';
import type { AuthDenied, AuthRequest } from '@edge-gateway/core';
import { beginAttempt } from './attempt.ts';
import type { Login } from './login.ts';
import { cookieHeaders, page, redirectTo } from './page.ts';
import { extraParameters, scopeOf } from './parameters.ts';
import { asJson, cannotFollowLogin } from './error-response.ts';
import type { LoginBlock } from './settings.ts';
import { forgetLogins, MAX_CONSECUTIVE_LOGINS, consecutiveLoginsOf } from './rounds.ts';
import { targetOf } from './target.ts';

/** Redirects a browser to the provider. A script gets 401, and a browser in a redirect loop gets a page. */
export async function begin(login: Login, request: AuthRequest): Promise<AuthDenied> {
  const { settings } = login;
  if (cannotFollowLogin(request)) return asJson(request, 'ERR_OIDC_LOGIN_REQUIRED', 'no session');
  const consecutiveLogins = consecutiveLoginsOf(request, settings);
  const target = targetOf(request, settings);
  if (consecutiveLogins >= MAX_CONSECUTIVE_LOGINS) return loopPage(target, forgetLogins(settings));
  return { ...(await redirectToProvider(login, request, { target, consecutiveLogins })), redirect: true };
}

/** Redirects a browser to the provider for a login with another account; `path` is the page after it. */
export function beginSwitch(login: Login, request: AuthRequest, path: string): Promise<AuthDenied> {
  const target = targetOf({ host: request.host, scheme: request.scheme, path }, login.settings);
  return redirectToProvider(login, request, { target, consecutiveLogins: 0, isSwitch: true });
}

async function redirectToProvider(
  login: Login,
  request: AuthRequest,
  {
    isSwitch = false,
    ...destination
  }: { readonly target: string; readonly consecutiveLogins: number; readonly isSwitch?: boolean },
): Promise<AuthDenied> {
  const { settings, block, openid } = login;
  const { attempt, state, cookies } = beginAttempt(request, settings, { ...destination, now: login.now() });
  await warnAboutUnsupported(login);
  const configured = extraParameters(block, 'authEndpointQueryParams', request);
  const asks = /\b(?:login|select_account)\b/.test(configured['prompt'] ?? '');
  const url = await login.client.authorizationUrl({
    ...configured,
    // The provider then shows its form even to a user who is logged in there (OpenID Connect Core 3.1.2.1).
    ...(isSwitch && !asks && { prompt: 'login' }),
    redirect_uri: settings.redirectUri,
    scope: scopeOf(block, openid ? ['openid'] : []),
    state,
    ...(openid && { nonce: attempt.nonce }),
    code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: 'S256',
  });
  return redirectTo(url.href, cookies, 'login');
}

async function warnAboutUnsupported(login: Login): Promise<void> {
  const metadata = await login.provider.metadata();
  if (login.compared.has(metadata)) return;
  login.compared.add(metadata);
  const asked = unsupportedOf(login.block, metadata);
  if (asked.length > 0)
    login.log.warn({ issuer: metadata.issuer, asked }, 'login requests something that the provider does not list');
}

/**
 * Returns what a login requests and the provider does not list: a response type, scopes, claims. The login may work anyway,
 * because providers need not list everything; if it does not, this explains why.
 */
function unsupportedOf(block: LoginBlock, metadata: ServerMetadata): readonly string[] {
  const { scopes = [], identityToken } = block;
  const claims = (identityToken?.claimsToHeaders ?? []).map(({ claim = '' }) => claim);
  return [
    ...missing('response type', ['code'], metadata.response_types_supported),
    ...missing('scope', scopes, metadata.scopes_supported),
    ...missing('claim', claims, metadata.claims_supported),
  ];
}

function missing(kind: string, wanted: readonly string[], listed: unknown): string[] {
  return Array.isArray(listed) ? wanted.filter((each) => !listed.includes(each)).map((each) => `${kind} ${each}`) : [];
}

function loopPage(target: string, cookie: string): AuthDenied {
  return page({
    status: 403,
    title: 'Your login could not be kept',
    message: 'You logged in, but your browser does not keep the session. Cookies may be blocked, or clocks differ.',
    links: [{ href: target, text: 'Start again' }],
    reason: 'login loop',
    headers: cookieHeaders([cookie]),
  });
}
