import type { AuthDenied, PageContent } from '@edge-gateway/core';

/** Content and headers of a login page. */
export interface Page extends PageContent {
  /** For the log. */
  readonly reason: string;
  readonly headers?: readonly string[];
  /** Where forms may be submitted, besides this origin. */
  readonly formAction?: string;
}

/** Returns a page. It is never cached, loads nothing, and reveals no internals. */
export function page({ reason, headers = [], formAction, ...content }: Page): AuthDenied {
  return {
    allowed: false,
    status: content.status,
    headers,
    page: content,
    ...(formAction !== undefined && { formAction }),
    reason,
  };
}

/** Returns the names of the templates for a login page, the most specific first. */
export function pageTemplates(status: number): readonly string[] {
  return ['login', String(status), status >= 500 ? '5xx' : '4xx', 'error'];
}

/** Returns `set-cookie` headers. */
export function cookieHeaders(cookies: readonly string[]): readonly string[] {
  return cookies.flatMap((cookie) => ['set-cookie', cookie]);
}

/** Returns a redirect, 302, that must not be cached. */
export function redirectTo(location: string, cookies: readonly string[], reason: string): AuthDenied {
  return {
    allowed: false,
    status: 302,
    headers: ['location', location, 'cache-control', 'no-store', ...cookieHeaders(cookies)],
    reason,
  };
}
