import { compileRegex, type Regex, type Route } from '@edge-gateway/core';
import { canonicalEscapes } from './canonical-path.ts';
import { compileConditions, type Condition } from './conditions.ts';

type Matcher = Route['matchers'][number];

export interface CompiledMatcher {
  readonly kind: 'prefix' | 'exact' | 'regex' | 'connect';
  /** Prefix, exact path or pattern; in lower case when `ignoreCase`. */
  readonly text: string;
  readonly ignoreCase: boolean;
  readonly regex: Regex | undefined;
  readonly conditions: readonly Condition[];
}

/** Compiles a matcher; one without a path matches every path. Throws for an expression that does not compile. */
export function compileMatcher(matcher: Matcher): CompiledMatcher {
  const conditions = compileConditions(matcher);
  const rest = { conditions, regex: undefined, ignoreCase: matcher.caseSensitive === false };
  if (matcher.connectMatcher) return { ...rest, kind: 'connect', text: '', ignoreCase: false };
  if (matcher.regex !== undefined) {
    return { ...rest, kind: 'regex', text: matcher.regex, ignoreCase: false, regex: compileRegex(matcher.regex) };
  }
  const kind = matcher.exact === undefined ? 'prefix' : 'exact';
  const text = canonicalEscapes(matcher.exact ?? matcher.prefix ?? '/');
  return { ...rest, kind, text: rest.ignoreCase ? text.toLowerCase() : text };
}

/** True if the path (without query) matches, whatever the conditions. */
export function pathFits(matcher: CompiledMatcher, pathname: string, method: string): boolean {
  if (matcher.kind === 'connect' || method === 'CONNECT') return matcher.kind === 'connect' && method === 'CONNECT';
  if (matcher.regex) return matcher.regex.fullMatch(pathname);
  const path = matcher.ignoreCase ? pathname.toLowerCase() : pathname;
  return matcher.kind === 'prefix' ? path.startsWith(matcher.text) : path === matcher.text;
}

/** Length of the matched part of the path, which a rewrite replaces. */
export function matchedLength(matcher: CompiledMatcher, pathname: string): number {
  return matcher.kind === 'prefix' ? matcher.text.length : pathname.length;
}

const SPECIAL = /[\\^$.|?*+()[\]{}]/;

/**
 * Returns a literal prefix of every match of an RE2 expression, as far as it is obvious; often empty.
 * Allows expressions in the same index as prefixes.
 */
export function literalPrefix(pattern: string): string {
  if (pattern.includes('|') || pattern.startsWith('(?')) return '';
  const start = pattern.startsWith('^') ? 1 : 0;
  let end = start;
  while (end < pattern.length && !SPECIAL.test(pattern[end]!)) end++;
  // A quantifier may make the preceding character optional.
  if (end < pattern.length && '?*{+'.includes(pattern[end]!)) end = Math.max(start, end - 1);
  return pattern.slice(start, end);
}
