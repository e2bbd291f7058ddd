import type { Request } from 'express';
import type { EndpointResponse } from '../http/endpoint-response.ts';
import { html, type Content } from './html.ts';
import { PATHS } from './paths.ts';
import { SCRIPT_PATH, STYLE_PATH } from './assets.ts';

/** Allows only scripts and styles from this port, none inline. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'";

/** A link of the navigation. */
export interface NavigationItem {
  readonly path: string;
  readonly name: string;
}

/** The frame of each page of a port. */
export interface Frame {
  /** E.g. `Control plane`. */
  readonly title: string;
  /** Version of the gateway. */
  readonly version: string;
  readonly navigation: readonly NavigationItem[];
  /** True if the browser signed in with the form and can sign out. */
  readonly canSignOut: boolean;
}

/** One page. */
export interface PageBody {
  /** Path of the navigation item that it belongs to. */
  readonly path: string;
  /** Heading and title. */
  readonly heading: string;
  /** The search term of the header. */
  readonly query?: string;
  readonly status?: number;
  readonly content: Content;
}

/** Puts a page into the frame of its port. */
export type Framed = (req: Request, page: PageBody) => EndpointResponse;

interface Document {
  readonly title: string;
  readonly status: number;
  readonly body: Content;
  /** Default false. */
  readonly hasScript?: boolean;
}

/** Returns a complete page. */
export function pageOf(frame: Frame, { path, heading, query = '', status = 200, content }: PageBody): EndpointResponse {
  const items = frame.navigation.map(
    (item) => html`<li><a href="${item.path}"${item.path === path && html` aria-current="page"`}>${item.name}</a></li>`,
  );
  return documentOf({
    title: `${heading} · ${frame.title}`,
    status,
    hasScript: true,
    body: html`<a class="skip" href="#main">Skip to content</a>
<header>
<p class="brand"><a href="${frame.navigation[0]?.path}">edge-gateway</a> <span>${frame.title}</span> <small>${frame.version}</small></p>
<form role="search" action="${PATHS.search}">
<label class="unseen" for="search">Search</label>
<input id="search" name="q" type="search" value="${query}" placeholder="Name, domain, path, file, problem">
<button>Search</button>
</form>
<p class="live" id="live" hidden><span id="live-state">Connecting</span> <button id="live-pause" type="button">Pause</button></p>
${frame.canSignOut && html`<form action="/sign-out" method="post"><button class="quiet">Sign out</button></form>`}
<nav aria-label="Sections"><ul>${items}</ul></nav>
</header>
<main id="main" tabindex="-1">
<h1>${heading}</h1>
${content}
</main>
<p id="live-notice" class="unseen" role="status" aria-live="polite"></p>`,
  });
}

/** Returns a page without a frame. `title` is its heading too. */
export function plainPage(title: string, content: Content): EndpointResponse {
  return documentOf({ title, status: 200, body: html`<main><h1>${title}</h1>${content}</main>` });
}

/** Returns a document with the style of the pages and their content security policy. */
export function documentOf({ title, status, body, hasScript = false }: Document): EndpointResponse {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE_PATH}">
${hasScript && html`<script src="${SCRIPT_PATH}" defer></script>`}
</head>
<body>
${body}
</body>
</html>
`;
  return {
    status,
    type: 'html',
    body: page.text,
    // With `no-referrer`, browsers would send the forms of a page with `Origin: null`.
    headers: { 'content-security-policy': POLICY, 'referrer-policy': 'same-origin', 'cache-control': 'no-store' },
  };
}
