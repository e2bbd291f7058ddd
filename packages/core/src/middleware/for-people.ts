import type { AuthDenied } from '../contract/auth-method.ts';
import type { ErrorResponse } from '../http/error-response.ts';
import type { Facts } from '../contract/facts.ts';
import type { Identity } from '../contract/identity.ts';
import { errorPage } from '../page/error-page.ts';
import { isNavigation, type RequestSigns } from '../page/navigation.ts';
import { pageHeaders, type Pages } from '../page/pages.ts';

/** The recipient of a response. */
export interface Reader {
  readonly request: RequestSigns;
  readonly requestId: string;
  readonly pages: Pages;
  readonly facts?: Pick<Facts, 'identity' | 'logoutPath'> | undefined;
}

/** The request headers that {@link isNavigation} reads. */
const VARY = ['vary', 'accept, sec-fetch-mode, x-requested-with'];
const CONTENT_TYPE = 'text/html; charset=utf-8';

/**
 * Returns the response to an error as a page, with the same status and headers, for the navigation of a browser, and
 * with its own body for scripts. `Vary` is added to both. Errors that are not the gateway's own stay unchanged.
 */
export function forPeople(response: ErrorResponse, { request, requestId, pages, facts }: Reader): ErrorResponse {
  const { error, status, headers, contentType } = response;
  if (!error || contentType.startsWith('text/html') || status < 400) return response;
  if (!isNavigation(request)) return { ...response, headers: [...headers, ...VARY] };
  const content = errorPage({
    status,
    body: error.message,
    code: error.code,
    requestId,
    user: facts?.identity && nameOf(facts.identity),
    logoutPath: facts?.logoutPath,
    path: request.method === 'GET' ? request.path : undefined,
  });
  return {
    status,
    body: pages.render(content),
    contentType: CONTENT_TYPE,
    headers: [...headers, ...pageHeaders(pages.policy()), ...VARY],
  };
}

/** Returns the display name of a user. */
function nameOf({ claims, subject }: Identity): string | undefined {
  const named = ['email', 'preferred_username', 'name'].map((claim) => claims[claim]);
  return named.find((value): value is string => typeof value === 'string' && value !== '') ?? subject;
}

/** Returns a denial with its page rendered: body and headers. A page with an error code shows the request id. */
export function withPage(denied: AuthDenied, pages: Pages, requestId?: string): AuthDenied {
  const { page, formAction, headers = [], ...rest } = denied;
  if (!page) return denied;
  const described = ['content-type', CONTENT_TYPE, ...pageHeaders(pages.policy(formAction)), ...headers];
  return { ...rest, headers: described, body: pages.render(page.code === undefined ? page : { ...page, requestId }) };
}
