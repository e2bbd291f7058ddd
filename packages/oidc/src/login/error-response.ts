import { isNavigation, prefersJson, type AuthDenied, type AuthRequest } from '@edge-gateway/core';
import { codeOf, ERROR_CODES, type ErrorCode } from '../error-codes.ts';
import { page } from './page.ts';

const RETRY_AFTER_SECONDS = '1';

/** Returns true for requests of scripts, and for those that would lose their body or connection in a redirect. */
export function cannotFollowLogin(request: AuthRequest): boolean {
  const mode = request.header('sec-fetch-mode');
  if (mode !== undefined && mode !== 'navigate') return true;
  // In the gateway, requests have no `upgrade` header, but WebSockets have the last one.
  const signs = ['x-requested-with', 'upgrade', 'sec-websocket-version'];
  if (signs.some((name) => request.header(name) !== undefined)) return true;
  return request.method !== 'GET' && request.method !== 'HEAD';
}

/** Returns true for clients that accept JSON rather than pages. */
const wantsJson = (request: AuthRequest): boolean => !isNavigation(request) && prefersJson(request);

/** Returns the response to an error: a page for browsers, JSON for scripts. The cause is only for the log. */
export function errorResponse(request: AuthRequest, error: unknown): AuthDenied {
  const code = codeOf(error);
  const reason = error instanceof Error ? error.message : 'unknown';
  if (code === undefined) throw error;
  if (cannotFollowLogin(request) || wantsJson(request)) return asJson(request, code, reason);
  // The link leads to the page's own URL, so an attacker cannot choose it.
  return errorPage({ code, reason, again: '' });
}

interface ErrorParts {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly again: string;
  /** Default: the message of the code. */
  readonly message?: string;
  readonly status?: number;
  readonly headers?: readonly string[];
}

/** Returns the response to a callback that failed: a page with a link to continue, or JSON for a client that accepts only that. */
export function callbackError(request: AuthRequest, parts: ErrorParts): AuthDenied {
  if (!wantsJson(request)) return errorPage(parts);
  const { code, reason, headers = [], ...shown } = parts;
  const denied = asJson(request, code, reason, shown);
  return { ...denied, headers: [...denied.headers!, ...headers] };
}

/** Returns a page for an error of the table, with a link to continue. */
function errorPage(parts: ErrorParts): AuthDenied {
  const { status, message } = ERROR_CODES[parts.code];
  const isBusy = status >= 502;
  const text = isBusy ? 'Try again' : 'Start again';
  const denied = page({
    status: parts.status ?? status,
    title: isBusy ? 'Login is temporarily unavailable' : 'You are not logged in',
    message: parts.message ?? message,
    code: parts.code,
    links: [{ href: parts.again, text }],
    reason: parts.reason,
    headers: [...(isBusy ? ['retry-after', RETRY_AFTER_SECONDS] : []), ...(parts.headers ?? [])],
  });
  return { ...denied, code: parts.code };
}

const CLOCKS = 'The clocks of this server and of the identity provider differ too much. (clock)';

/** Returns the response to a callback after a clock difference, which needs an operator. */
export function clockError(
  request: AuthRequest,
  reason: string,
  again: string,
  headers: readonly string[],
): AuthDenied {
  if (wantsJson(request)) {
    const denied = asJson(request, 'ERR_OIDC_TOKEN_INVALID', `clock: ${reason}`, { message: CLOCKS });
    return { ...denied, headers: [...denied.headers!, ...headers] };
  }
  return page({
    status: 401,
    title: 'You are not logged in',
    message: CLOCKS,
    links: [{ href: again, text: 'Start again' }],
    reason: `clock: ${reason}`,
    headers: ['www-authenticate', 'Bearer error="invalid_token", error_description="clock"', ...headers],
  });
}

/**
 * Returns the response to a script: JSON. The CORS policy in front of the login decides which other origins may read it.
 */
export function asJson(
  request: AuthRequest,
  code: ErrorCode,
  reason: string,
  shown: { readonly status?: number; readonly message?: string } = {},
): AuthDenied {
  const { status = ERROR_CODES[code].status, message = ERROR_CODES[code].message } = shown;
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
