import { compileRegex, type Regex, type Route } from '@edge-gateway/core';
import { routingError } from '../../error-codes.ts';
import { hidesDotSegment } from '../match/canonical-path.ts';

/** Returns a text of a resource as a URL can contain it: letters beyond ASCII are escaped. */
export function asUrlText(text: string): string {
  return text.replace(/[\u0080-\uffff]+/g, (letters) => encodeURIComponent(letters.toWellFormed()));
}

/** How the path sent upstream differs from that of the request. */
export type PathRewrite =
  | { readonly prefix: string; readonly regex: undefined }
  | { readonly prefix: undefined; readonly regex: RegexSubstitution };

/** An expression and what replaces its matches. */
export interface RegexSubstitution {
  readonly pattern: Regex;
  readonly substitution: string;
}

type RegexRewrite = NonNullable<Route['options']['regexRewrite']>;

/** Compiles `prefixRewrite` or `regexRewrite`; `undefined` keeps the path. Throws `ERR_ROUTING_OPTION` for both of them. */
export function compilePathRewrite({ prefixRewrite, regexRewrite }: Route['options']): PathRewrite | undefined {
  const regex = compileSubstitution(regexRewrite);
  if (!prefixRewrite) return regex && { prefix: undefined, regex };
  if (regex) throw routingError('ERR_ROUTING_OPTION', 'prefixRewrite and regexRewrite cannot be combined');
  return { prefix: asUrlText(prefixRewrite), regex: undefined };
}

/** Compiles a pattern with its substitution; `undefined` without a pattern. */
export function compileSubstitution(rewrite: RegexRewrite | undefined): RegexSubstitution | undefined {
  const pattern = rewrite?.pattern?.regex;
  return pattern ? { pattern: compileRegex(pattern), substitution: asUrlText(rewrite?.substitution ?? '') } : undefined;
}

/**
 * Returns the path to send, with the query of `path`; `undefined` if it would contain a dot segment or a character that is not allowed.
 * `matched` is the length of the part that the route matched.
 */
export function rewritePath(path: string, matched: number, { prefix, regex }: PathRewrite): string | undefined {
  return prefix === undefined ? rewriteByRegex(path, regex) : rewritePrefix(path, matched, prefix);
}

/**
 * Replaces the matched part of the path by `prefixRewrite`; the query stays, after that of the replacement. If both sides of the join have a
 * slash, one is dropped. Returns `undefined` if the rest of the path would form a dot segment, which clients must not create through a
 * rewrite.
 */
export function rewritePrefix(path: string, matched: number, replacement: string): string | undefined {
  const cut = replacement.indexOf('?');
  if (cut >= 0) {
    const moved = rewritePrefix(path, matched, replacement.slice(0, cut));
    return moved === undefined ? undefined : withQuery(moved, replacement.slice(cut + 1));
  }
  const rest = path.slice(matched);
  const joined = replacement.endsWith('/') && rest.startsWith('/') ? replacement + rest.slice(1) : replacement + rest;
  return checked(joined);
}

/** Adds a query before that of a path. */
function withQuery(path: string, added: string): string {
  const cut = path.indexOf('?');
  if (added === '') return path;
  if (cut < 0) return `${path}?${added}`;
  const own = path.slice(cut + 1);
  return `${path.slice(0, cut)}?${own === '' ? added : `${added}&${own}`}`;
}

/** Replaces every match of an expression in the path without its query. */
function rewriteByRegex(path: string, { pattern, substitution }: RegexSubstitution): string | undefined {
  const cut = path.indexOf('?');
  const pathname = cut < 0 ? path : path.slice(0, cut);
  const replaced = pattern.replaceAll(pathname, substitution);
  return checked(cut < 0 ? replaced : replaced + path.slice(cut));
}

/** No space, control character, `#` or backslash. */
const ALLOWED = /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/;

function checked(path: string): string | undefined {
  const rewritten = path.startsWith('/') ? path : `/${path}`;
  const cut = rewritten.indexOf('?');
  const pathname = cut < 0 ? rewritten : rewritten.slice(0, cut);
  return ALLOWED.test(pathname) && !hidesDotSegment(pathname) ? rewritten : undefined;
}
