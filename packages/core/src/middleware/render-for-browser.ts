import type { AuthDenied } from '../contract/auth-method.ts';
import { JSON_TYPE, jsonResponse, type ErrorResponse } from '../http/error-response.ts';
import type { Facts } from '../contract/facts.ts';
import type { Identity } from '../contract/identity.ts';
import { errorPage } from '../page/error-page.ts';
import { isNavigation, prefersJson, type RequestSigns } from '../page/navigation.ts';
import { pageHeaders, type Pages } from '../page/pages.ts';

/** The recipient of a response. */
export interface Reader {
  readonly request: RequestSigns;
  readonly requestId: string;
  readonly pages: Pages;
  /** True: clients that prefer JSON receive it instead of a text too. Otherwise, only instead of an empty body. */
  readonly jsonErrors?: boolean | undefined;
  readonly facts?: Pick<Facts, 'identity' | 'logoutPath'> | undefined;
}

/** The request headers that {@link isNavigation} and {@link prefersJson} read. */
const VARY = ['vary', 'accept, sec-fetch-mode, x-requested-with'];
const CONTENT_TYPE = 'text/html; charset=utf-8';

/**
 * Returns the response to an error in the form for its client, with the same status and headers: a page for the navigation of a browser,
 * JSON for clients that prefer it, and otherwise its own body. `Vary` is added to all. Errors that are not the gateway's own stay unchanged.
 */
export function renderForBrowser(response: ErrorResponse, reader: Reader): ErrorResponse {
  const { request, requestId, pages, facts, jsonErrors = false } = reader;
  const { error, status, headers, contentType } = response;
  if (!error || contentType.startsWith('text/html') || status < 400) return response;
  if (!isNavigation(request)) {
    const isText = contentType !== JSON_TYPE && (jsonErrors || response.body.length === 0);
    const shown = isText && prefersJson(request) ? jsonResponse(status, { ...error, requestId }, headers) : response;
    return { ...shown, headers: [...shown.headers, ...VARY] };
  }
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
