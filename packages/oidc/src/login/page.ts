import type { AuthDenied } from '@edge-gateway/core';

const STYLE = 'body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}';
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/** What a page says. `body` is HTML; text from outside goes through `escapeHtml`. */
export interface Page {
  readonly status: number;
  readonly title: string;
  readonly body: string;
  /** For the log. */
  readonly reason: string;
  readonly headers?: readonly string[];
  /** Where forms may be sent, beside this origin. */
  readonly formAction?: string;
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** An answer for people. It is never cached, loads nothing, and tells nothing of the inside. */
export function page({ status, title, body, reason, headers = [], formAction }: Page): AuthDenied {
  const policy = formAction === undefined ? `${POLICY}; form-action 'self'` : `${POLICY}; form-action ${formAction}`;
  return {
    allowed: false,
    status,
    headers: [
      'content-type',
      'text/html; charset=utf-8',
      'cache-control',
      'no-store',
      'content-security-policy',
      policy,
      'referrer-policy',
      'no-referrer',
      'x-content-type-options',
      'nosniff',
      ...headers,
    ],
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style><h1>${title}</h1>${body}</html>`,
    reason,
  };
}

/** A link; an empty address is this page itself. */
export function link(href: string, text: string): string {
  return `<p><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></p>`;
}

/** `set-cookie` headers. */
export function cookieHeaders(cookies: readonly string[]): readonly string[] {
  return cookies.flatMap((cookie) => ['set-cookie', cookie]);
}

/** A redirect, 302, that no cache keeps. */
export function redirectTo(location: string, cookies: readonly string[], reason: string): AuthDenied {
  return {
    allowed: false,
    status: 302,
    headers: ['location', location, 'cache-control', 'no-store', ...cookieHeaders(cookies)],
    reason,
  };
}
