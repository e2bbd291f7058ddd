import type { RouteAction } from '@edge-gateway/core';
import { routingError } from '../../error-codes.ts';
import { breaksLine } from '../../http1/flat-headers.ts';
import { pathReference } from '../match/canonical-path.ts';
import { asUrlText, compileSubstitution, rewritePath, rewritePrefix } from './path-rewrite.ts';

type RedirectAction = Extract<RouteAction, { readonly type: 'redirect' }>['redirect'];

const STATUS = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
} as const;

/** Ports that a URL does not need. */
const DEFAULT_PORTS = { http: 80, https: 443 } as const;

export type CompiledRedirect = Readonly<ReturnType<typeof compileRedirect>>;

export interface RedirectInput {
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  readonly path: string;
  readonly pathname: string;
  /** Length of the matched part of the path. */
  readonly matched: number;
}

/** Compiles a `redirectAction`. Throws `ERR_ROUTING_OPTION` if a part is not allowed in a `Location`. */
export function compileRedirect(action: RedirectAction) {
  for (const value of [action.hostRedirect, action.pathRedirect, action.prefixRewrite]) {
    if (value && breaksLine(value)) throw routingError('ERR_ROUTING_OPTION', 'a redirect contains a line break');
  }
  return {
    status: STATUS[action.responseCode ?? 'MOVED_PERMANENTLY'],
    scheme: action.httpsRedirect === true ? ('https' as const) : action.schemeRedirect,
    host: action.hostRedirect || undefined,
    port: action.portRedirect || undefined,
    path: asUrlText(action.pathRedirect ?? '') || undefined,
    prefix: asUrlText(action.prefixRewrite ?? '') || undefined,
    regex: compileSubstitution(action.regexRewrite),
    stripQuery: action.stripQuery === true,
  };
}

/** The `Location`; `undefined` when it cannot be built from this request. */
export function locationOf(redirect: CompiledRedirect, input: RedirectInput): string | undefined {
  const scheme = redirect.scheme ?? input.scheme;
  const path = newPath(redirect, input);
  if (path === undefined || breaksLine(path)) return undefined;
  const authority = newAuthority(redirect, input, scheme);
  return authority === '' ? pathReference(path) : `${scheme}://${authority}${path}`;
}

function newAuthority(redirect: CompiledRedirect, input: RedirectInput, scheme: 'http' | 'https'): string {
  const host = redirect.host ?? input.authority;
  if (redirect.port === DEFAULT_PORTS[scheme]) return withoutPort(host);
  if (redirect.port !== undefined) return `${withoutPort(host)}:${redirect.port}`;
  // The default port of one scheme would be wrong for the other.
  if (scheme !== input.scheme && host.endsWith(input.scheme === 'http' ? ':80' : ':443')) return withoutPort(host);
  return host;
}

export function withoutPort(host: string): string {
  return host.replace(/:\d+$/, '');
}

function newPath(redirect: CompiledRedirect, input: RedirectInput): string | undefined {
  const query = redirect.stripQuery ? '' : input.path.slice(input.pathname.length);
  if (redirect.path !== undefined) {
    const path = absolutePath(redirect.path);
    return path.includes('?') ? path : path + query;
  }
  if (redirect.prefix !== undefined) {
    return rewritePrefix(input.pathname + query, input.matched, redirect.prefix);
  }
  if (redirect.regex) {
    const rewritten = rewritePath(input.pathname, 0, { prefix: undefined, regex: redirect.regex });
    return rewritten === undefined ? undefined : rewritten + query;
  }
  return input.pathname + query;
}

/** Without a leading slash, a path from the client would extend the host: `a.example` + `@evil.example`. */
function absolutePath(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
