import type { AuthDenied, PageContent } from '@edge-gateway/core';

/** Content and headers of a login page. */
export interface Page extends Omit<PageContent, 'templates'> {
  /** Default: those of an error of a login. */
  readonly templates?: readonly string[];
  /** For the log. */
  readonly reason: string;
  readonly headers?: readonly string[];
  /** Where forms may be submitted, besides this origin. */
  readonly formAction?: string;
}

/** Returns a page. It is never cached, loads nothing, and reveals no internals. */
export function page({ reason, headers = [], formAction, ...content }: Page): AuthDenied {
  const { status } = content;
  const templates = ['login', String(status), status >= 500 ? '5xx' : '4xx', 'error'];
  return {
    allowed: false,
    status,
    headers,
    page: { templates, ...content },
    ...(formAction !== undefined && { formAction }),
    reason,
  };
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
