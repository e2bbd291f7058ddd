import type { AuthDenied, AuthRequest } from '@edge-gateway/core';
import { ERROR_CODES } from '../error-codes.ts';
import { codeOf, type ErrorCode } from '../failure.ts';
import { isClockProblem } from '../provider/verify.ts';
import { page, pageTemplates } from './page.ts';

const RETRY_AFTER_SECONDS = '1';

/** True for what a script sent, or what would lose its body or its connection by a redirect. */
export function cannotFollowLogin(request: AuthRequest): boolean {
  const mode = request.header('sec-fetch-mode');
  if (mode !== undefined && mode !== 'navigate') return true;
  // The last is of WebSockets: in the gateway, `upgrade` is not among the headers of a request.
  const signs = ['x-requested-with', 'upgrade', 'sec-websocket-version'];
  if (signs.some((name) => request.header(name) !== undefined)) return true;
  return request.method !== 'GET' && request.method !== 'HEAD';
}

/**
 * Returns the response to a script without a session: 401. The CORS policy in front of the login decides which other origins
 * may read it.
 */
export function loginRequired(request: AuthRequest): AuthDenied {
  return asJson(request, 'ERR_OIDC_LOGIN_REQUIRED', 'no session');
}

/** The answer to what went wrong: a page for people, JSON for scripts. What went wrong inside is for the log only. */
export function errorResponse(request: AuthRequest, error: unknown): AuthDenied {
  const code = codeOf(error);
  const reason = error instanceof Error ? error.message : 'unknown';
  if (code === undefined) throw error;
  if (cannotFollowLogin(request)) return asJson(request, code, reason);
  // The page's own address: no other can be smuggled in.
  return errorPage({ code, reason, again: '' });
}

/** A page for an error of the table, with a link to go on from. */
export function errorPage(parts: {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly again: string;
  readonly status?: number;
  readonly headers?: readonly string[];
}): AuthDenied {
  const { status, message } = ERROR_CODES[parts.code];
  const isBusy = status >= 502;
  const text = isBusy ? 'Try again' : 'Start again';
  const denied = page({
    status: parts.status ?? status,
    templates: pageTemplates(parts.status ?? status),
    title: isBusy ? 'Login is not available just now' : 'You are not logged in',
    message,
    code: parts.code,
    links: [{ href: parts.again, text }],
    reason: parts.reason,
    headers: [...(isBusy ? ['retry-after', RETRY_AFTER_SECONDS] : []), ...(parts.headers ?? [])],
  });
  return { ...denied, code: parts.code };
}

/** A token that the provider gave and that does not hold. A difference of clocks is named: it does not go away by itself. */
export function invalidTokenPage(error: unknown, again: string): AuthDenied {
  if (!isClockProblem(error))
    return errorPage({ code: 'ERR_OIDC_TOKEN_INVALID', reason: (error as Error).message, again, status: 403 });
  return page({
    templates: pageTemplates(401),
    status: 401,
    title: 'You are not logged in',
    message: 'The clocks of this server and of the identity provider differ too much. (clock)',
    links: [{ href: again, text: 'Start again' }],
    reason: `clock: ${(error as Error).message}`,
    headers: ['www-authenticate', 'Bearer error="invalid_token", error_description="clock"'],
  });
}

function asJson(request: AuthRequest, code: ErrorCode, reason: string): AuthDenied {
  const { status, message } = ERROR_CODES[code];
  const headers = ['content-type', 'application/json', 'cache-control', 'no-store'];
  if (status === 401) headers.push('www-authenticate', 'Bearer');
  if (status >= 502) headers.push('retry-after', RETRY_AFTER_SECONDS);
  return {
    allowed: false,
    status,
    headers,
    body: JSON.stringify({ code, message, requestId: request.requestId }),
    reason,
    code,
  };
}
