import { calculatePKCECodeChallenge } from 'openid-client';
import type { AuthDenied, AuthRequest } from '@edge-gateway/core';
import { beginAttempt } from './attempt.ts';
import { unsupportedOf } from '../provider/unsupported.ts';
import type { Login } from './login.ts';
import { cookieHeaders, page, redirectTo } from './page.ts';
import { extraParameters, scopeOf } from './parameters.ts';
import { cannotFollowLogin, loginRequired } from './error-response.ts';
import { forgetRounds, MAX_ROUNDS, roundsOf } from './rounds.ts';
import { targetOf } from './target.ts';

/** Redirects a browser to the provider. A script gets 401, and a browser in a redirect loop gets a page. */
export async function begin(login: Login, request: AuthRequest): Promise<AuthDenied> {
  const { settings } = login;
  if (cannotFollowLogin(request)) return loginRequired(request);
  const round = roundsOf(request, settings);
  const target = targetOf(request, settings);
  if (round >= MAX_ROUNDS) return loopPage(target, forgetRounds(settings));
  return { ...(await redirectToProvider(login, request, { target, round })), redirect: true };
}

/** Redirects a browser to the provider for a login with another account; `path` is the page after it. */
export function beginSwitch(login: Login, request: AuthRequest, path: string): Promise<AuthDenied> {
  const target = targetOf({ host: request.host, scheme: request.scheme, path }, login.settings);
  return redirectToProvider(login, request, { target, round: 0, prompt: 'login' });
}

interface Aim {
  readonly target: string;
  readonly round: number;
  /** `login` requires the provider's form even for a user who is logged in there (OpenID Connect Core 3.1.2.1). */
  readonly prompt?: 'login';
}

async function redirectToProvider(login: Login, request: AuthRequest, aim: Aim): Promise<AuthDenied> {
  const { settings, block, openid } = login;
  const { prompt, ...rest } = aim;
  const { attempt, state, cookies } = beginAttempt(request, settings, { ...rest, now: login.now() });
  await warnAboutUnsupported(login);
  const configured = extraParameters(block, 'authEndpointQueryParams', request);
  const asks = /\b(?:login|select_account)\b/.test(configured['prompt'] ?? '');
  const url = await login.client.authorizationUrl({
    ...configured,
    ...(prompt && !asks && { prompt }),
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
