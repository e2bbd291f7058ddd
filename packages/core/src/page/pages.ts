import { coreError } from '../error-codes.ts';
import { BUILTIN_TEMPLATE } from './builtin-template.ts';

/** The content of a page. Everything is plain text except `html`, which is markup of the gateway. */
export interface PageContent {
  /** Names of the matching templates, the most specific first, e.g. `['403', '4xx']`. */
  readonly templates: readonly string[];
  readonly status: number;
  readonly title: string;
  readonly message: string;
  /** Markup below the message, e.g. a form. Its texts are escaped with `escapeHtml`. */
  readonly html?: string;
  readonly links?: readonly PageLink[];
  /** Who is signed in. */
  readonly user?: string | undefined;
  /** Error code. */
  readonly code?: string | undefined;
  /** Request id, to find the request in the log. */
  readonly requestId?: string | undefined;
}

/** A link of a page; an empty address is the page itself. */
export interface PageLink {
  readonly href: string;
  readonly text: string;
}

/** Renders pages for errors, login and logout. */
export interface Pages {
  /** Returns a whole HTML document. */
  render(content: PageContent): string;
  /** Returns the `Content-Security-Policy` of the pages; `formAction` is the allowed target of forms. */
  policy(formAction?: string): string;
}

/** The names that a template may use. */
export const PAGE_VARIABLES = [
  'code',
  'content',
  'details',
  'links',
  'message',
  'request_id',
  'status',
  'title',
  'user',
] as const;
type Variable = (typeof PAGE_VARIABLES)[number];

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const STRICT = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";
/** Templates of an operator may load styles, images and fonts from this host. */
const SAME_HOST =
  "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'";

/**
 * Creates the pages from templates by name (`403`, `4xx`, `error`, `log-out`); without a matching one, the built-in page
 * is used. In a template `{{ title }}` and the other {@link PAGE_VARIABLES} are replaced: texts escaped, `content`, `links`
 * and `details` as markup. Throws `ERR_CORE_PAGE_TEMPLATE` for an unknown placeholder.
 *
 * @example
 * const pages = createPages(new Map([['error', '<h1>{{ title }}</h1>{{ content }}{{ links }}']]));
 */
export function createPages(templates: ReadonlyMap<string, string> = new Map()): Pages {
  for (const [name, text] of templates) checkTemplate(name, text);
  const policy = templates.size > 0 ? SAME_HOST : STRICT;
  return {
    render(content) {
      const name = content.templates.find((each) => templates.has(each));
      const template = (name !== undefined && templates.get(name)) || BUILTIN_TEMPLATE;
      const values = valuesOf(content);
      return template.replaceAll(PLACEHOLDER, (_all, variable: Variable) => values[variable]);
    },
    policy: (formAction) => `${policy}; form-action ${formAction ?? "'self'"}`,
  };
}

function checkTemplate(name: string, text: string): void {
  for (const match of text.matchAll(PLACEHOLDER)) {
    if (PAGE_VARIABLES.some((variable) => variable === match[1])) continue;
    const line = text.slice(0, match.index).split('\n').length;
    const problem = `unknown placeholder {{ ${match[1]} }}: use one of ${PAGE_VARIABLES.join(', ')}`;
    throw coreError('ERR_CORE_PAGE_TEMPLATE', `${name}.html:${line}: ${problem}`);
  }
}

function valuesOf(content: PageContent): Readonly<Record<Variable, string>> {
  const { status, title, message, html = '', links = [], user, code, requestId } = content;
  const paragraphs = [message, user === undefined ? '' : `You are signed in as ${user}.`].filter((text) => text !== '');
  const details = [code, requestId && `Request ${requestId}`].filter((text) => text);
  return {
    status: String(status),
    title: escapeHtml(title),
    message: escapeHtml(message),
    user: escapeHtml(user ?? ''),
    code: escapeHtml(code ?? ''),
    request_id: escapeHtml(requestId ?? ''),
    content: paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('\n') + html,
    links: links.length > 0 ? `<nav>${links.map(anchor).join('')}</nav>` : '',
    details: details.length > 0 ? `<small>${details.map((text) => escapeHtml(text!)).join(' · ')}</small>` : '',
  };
}

function anchor({ href, text }: PageLink): string {
  return `<a href="${escapeHtml(safeHref(href))}">${escapeHtml(text)}</a>`;
}

/** Returns the headers of every page except its type, flat: no caching, no referrer, and the given policy. */
export function pageHeaders(policy: string): string[] {
  const headers = {
    'cache-control': 'no-store',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
  return Object.entries(headers).flat();
}

/** Returns a text escaped for HTML, also for a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Returns a path on this host or an http(s) address for a link; anything else becomes `/`. */
function safeHref(href: string): string {
  if (href === '' || /^https?:\/\//i.test(href)) return href;
  return href.startsWith('/') && !/^\/[/\\]/.test(href) ? href : '/';
}
