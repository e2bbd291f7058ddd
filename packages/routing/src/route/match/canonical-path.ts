import { isUtf8 } from 'node:buffer';
import type { RoutingErrorCode } from '../../error-codes.ts';

/** What a listener does with paths that are not canonical (reference: routing 5.5). */
export interface PathSettings {
  /** Decodes unnecessary escapes and resolves dot segments, raw or as `%2e`. False: dot segments are rejected. */
  readonly normalizePath: boolean;
  /** Merges adjacent slashes. */
  readonly mergeSlashes: boolean;
  /** What happens to `%2f` and `%5c`. */
  readonly escapedSlashes: 'keep' | 'reject' | 'redirect' | 'forward';
  /** Rejects what would be decoded, resolved or merged: earlier handlers may have decided based on the written path. */
  readonly asWritten: boolean;
}

/** The path to serve, where to send the client instead, or why the target is refused. */
export type CanonicalPath =
  | { readonly path: string }
  /** `redirect` is a relative reference: see {@link pathReference}. */
  | { readonly redirect: string; readonly status: 307 }
  | { readonly refuse: RoutingErrorCode };

const PERCENT = 37;
const HASH = 35;
const DOT = 46;
const SLASH = 47;
const QUESTION = 63;
const BACKSLASH = 92;

/**
 * Returns the canonical path (with its query) for matching, policies and the upstream. Pure.
 *
 * @example
 * canonicalPath('/a/../b?x=1', DEFAULT_PATH_SETTINGS); // { path: '/b?x=1' }
 */
export function canonicalPath(target: string, settings: PathSettings): CanonicalPath {
  if (target.charCodeAt(0) !== SLASH) return { refuse: 'ERR_ROUTING_BAD_TARGET' };
  if (isPlain(target, settings.mergeSlashes)) return { path: target };
  return canonicalise(target, settings);
}

/** Writes a path as a relative reference: `//x` alone would name the host `x` (RFC 3986 §4.2), for browsers `/\x` too. */
export function pathReference(path: string): string {
  return /^\/[/\\]/.test(path) ? `/.${path}` : path;
}

export const DEFAULT_PATH_SETTINGS: PathSettings = {
  normalizePath: true,
  mergeSlashes: false,
  escapedSlashes: 'keep',
  asWritten: false,
};

/** True if a target is canonical at first sight, as nearly every one is. */
function isPlain(target: string, mergeSlashes: boolean): boolean {
  let before = SLASH;
  for (let i = 1; i < target.length; i++) {
    const code = target.charCodeAt(i);
    if (code === QUESTION) return isPlainQuery(target, i + 1);
    if (code <= 0x20 || code >= 0x7f || code === PERCENT || code === BACKSLASH || code === HASH) return false;
    if (before === SLASH && (code === DOT || (code === SLASH && mergeSlashes))) return false;
    before = code;
  }
  return true;
}

function isPlainQuery(target: string, from: number): boolean {
  for (let i = from; i < target.length; i++) {
    const code = target.charCodeAt(i);
    if (code <= 0x20 || code === 0x7f || code === HASH) return false;
  }
  return true;
}

function canonicalise(target: string, settings: PathSettings): CanonicalPath {
  if (target.includes('#')) return { refuse: 'ERR_ROUTING_FRAGMENT' };
  const cut = target.indexOf('?');
  const query = cut < 0 ? '' : target.slice(cut);
  const written = cut < 0 ? target : target.slice(0, cut);
  const refused = refusedCharacters(written, query);
  if (refused) return { refuse: refused };
  let path = escapeBytes(written);
  let redirected = false;
  if (settings.escapedSlashes !== 'keep' && /%(?:2f|5c)/i.test(path)) {
    if (settings.escapedSlashes === 'reject' || (settings.asWritten && settings.escapedSlashes === 'forward'))
      return { refuse: 'ERR_ROUTING_ESCAPED_SLASH' };
    path = path.replace(/%2f/gi, '/').replace(/%5c/gi, '\\');
    if (path.includes('\\')) return { refuse: 'ERR_ROUTING_BACKSLASH' };
    redirected = settings.escapedSlashes === 'redirect';
  }
  // In Envoy's order: dot segments are resolved before slashes are merged.
  if (settings.normalizePath) path = canonicalEscapes(path);
  if (settings.normalizePath && !settings.asWritten) path = removeDotSegments(path);
  if (settings.mergeSlashes) path = path.replace(/\/{2,}/g, '/');
  if (hidesDotSegment(path)) return { refuse: 'ERR_ROUTING_DOT_SEGMENT' };
  if (settings.asWritten && !redirected && !isSamePath(path, written)) return { refuse: 'ERR_ROUTING_NOT_CANONICAL' };
  return redirected ? { redirect: pathReference(path + query), status: 307 } : { path: path + query };
}

/** True if a path was written in its canonical form; only the case of escapes may differ. */
function isSamePath(path: string, written: string): boolean {
  return canonicalEscapes(path).toUpperCase() === written.toUpperCase();
}

function refusedCharacters(path: string, query: string): RoutingErrorCode | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\u007f]/.test(path) || /[\u0000-\u0020\u007f]/.test(query)) return 'ERR_ROUTING_BAD_PATH';
  if (path.includes('\\')) return 'ERR_ROUTING_BACKSLASH';
  if (/%(?:00|(?![0-9a-fA-F]{2}))/.test(path)) return 'ERR_ROUTING_BAD_PERCENT';
  if (/%(?:c[01]|f[5-9a-f]|e0%[89]|f0%8)/i.test(path)) return 'ERR_ROUTING_BAD_UTF8';
  if (/[\u0080-\uffff]/.test(path) && !isUtf8(Buffer.from(path, 'latin1'))) return 'ERR_ROUTING_BAD_UTF8';
  return undefined;
}

/** Bytes above 0x7f, as some clients send them, in their escaped form. */
function escapeBytes(path: string): string {
  return path.replace(/[\u0080-\u00ff]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** RFC 3986 §5.2.4. */
function removeDotSegments(path: string): string {
  if (!/\/\.\.?(?:\/|$)/.test(path)) return path;
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [i, segment] of segments.entries()) {
    const last = i === segments.length - 1;
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
    if (last && (segment === '.' || segment === '..')) kept.push('');
  }
  return `/${kept.join('/')}`;
}

/** True when a server that unescapes once or twice, or cuts off `;…`, would see a dot segment. */
export function hidesDotSegment(path: string): boolean {
  const dots = /(?:^|[/\\])\.\.?(?:[/\\;]|$)/;
  if (dots.test(path)) return true;
  if (!path.includes('%')) return false;
  const once = unescapeOnce(path);
  return dots.test(once) || dots.test(unescapeOnce(once));
}

function unescapeOnce(path: string): string {
  return path.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

/** Unescapes what needs no escape and writes the other escapes in upper case (RFC 3986 §6.2.2). */
export function canonicalEscapes(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%([0-9a-fA-F]{2})/g, (escape, hex: string) => {
    const char = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(char) ? char : escape.toUpperCase();
  });
}
