import type { PageContent, PageLink } from './pages.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Sign-in required',
  403: 'Access denied',
  404: 'Page not found',
  405: 'Method not allowed',
  408: 'The request took too long',
  413: 'The request is too large',
  429: 'Too many requests',
  502: 'The service returned an invalid response',
  503: 'The service is not available',
  504: 'The service did not respond in time',
};

const MESSAGES: Readonly<Record<number, string>> = {
  401: 'This page is only for people who are signed in.',
  403: 'You have no permission to see this page.',
  404: 'There is nothing at this address.',
  503: 'Try again in a moment.',
  504: 'Try again in a moment.',
};

/** Query parameter of a logout path: starts a login with another account. Its value is the path to return to. */
export const SWITCH_ACCOUNT = 'switch_account';

/** The outcome of a request. */
export interface ErrorFacts {
  /** From 400. */
  readonly status: number;
  /** The text for scripts; may be empty. */
  readonly body: string;
  readonly code?: string | undefined;
  readonly requestId?: string | undefined;
  /** Who is signed in. */
  readonly user?: string | undefined;
  /** Logout path of the signed-in user. */
  readonly logoutPath?: string | undefined;
  /** Path of the page, with query, to which a login with another account returns. */
  readonly path?: string | undefined;
}

/** Returns the page for an error. It contains the text for scripts. */
export function errorPage({ status, body, logoutPath, path = '', ...rest }: ErrorFacts): PageContent {
  const ends = status >= 500 ? '5xx' : '4xx';
  const links: PageLink[] = [];
  if (status === 403 && rest.user !== undefined && logoutPath !== undefined)
    links.push({ href: `${logoutPath}?${SWITCH_ACCOUNT}=${encodeURIComponent(path)}`, text: 'Switch accounts' });
  if (status >= 502) links.push({ href: '', text: 'Try again' });
  // A user without access to this page has no access to the start page either.
  if (status !== 401 && status !== 403) links.push({ href: '/', text: 'Go to the start page' });
  return {
    templates: [String(status), ends, 'error'],
    status,
    title: TITLES[status] ?? (status >= 500 ? 'Something went wrong' : 'The request was rejected'),
    message: [MESSAGES[status], body].filter((text) => text).join(' '),
    links,
    ...rest,
  };
}
