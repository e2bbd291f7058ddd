import type { HeaderMatcher, Matcher, QueryParameterMatcher } from '../../schema/route/matcher.ts';
import { hasPath } from '../../validate/route/check-matcher.ts';
import { pathText } from './route-order.ts';

/** The default matcher of a route. */
export const EVERY_PATH: Matcher = Object.freeze({ prefix: '/' });

/** What a child route inherits from the delegating route. */
export interface Inheritance {
  readonly matchers: boolean;
  readonly pathMatchers: boolean;
}

/** Returns the matcher of a delegating route: a prefix with its conditions, or any path if it has none. */
export function delegatingMatcher(matchers: readonly Matcher[]): Matcher {
  const [first] = matchers;
  return first && hasPath(first) ? first : EVERY_PATH;
}

/** Returns the matcher of a child with inherited conditions. */
export function inheritMatcher(child: Matcher, parent: Matcher, inherit: Inheritance): Matcher {
  let merged = child;
  if (inherit.matchers) {
    merged = {
      ...merged,
      ...(parent.headers?.length && { headers: [...parent.headers, ...(child.headers ?? [])] }),
      ...(parent.queryParameters?.length && {
        queryParameters: [...parent.queryParameters, ...(child.queryParameters ?? [])],
      }),
      ...(parent.methods?.length && { methods: [...new Set([...parent.methods, ...(child.methods ?? [])])] }),
    };
  }
  if (inherit.pathMatchers) {
    const { prefix: _p, exact: _e, regex: _r, connectMatcher: _c, caseSensitive: _s, ...conditions } = merged;
    merged = {
      prefix: parent.prefix,
      ...(parent.caseSensitive !== undefined && { caseSensitive: parent.caseSensitive }),
      ...conditions,
    };
  }
  return merged;
}

/** Returns why a child's matcher (with inherited conditions) is not inside its parent's, or `undefined` if it is. */
export function outsideParent(child: Matcher, parent: Matcher): string | undefined {
  const prefix = parent.prefix ?? '/';
  if (!pathText(child).startsWith(prefix)) {
    return `its path '${pathText(child)}' does not begin with the prefix '${prefix}' of the delegating route`;
  }
  if (child.regex !== undefined && !isBelow(child.regex, prefix))
    return `its regex '${child.regex}' may match paths that do not begin with the prefix '${prefix}' of the delegating route`;
  if ((child.caseSensitive ?? true) !== (parent.caseSensitive ?? true)) {
    return 'its caseSensitive differs from that of the delegating route';
  }
  const header = parent.headers?.find((wanted) => !child.headers?.some((has) => sameHeader(has, wanted)));
  if (header) return `it lacks the condition on header '${header.name}' of the delegating route`;
  const query = parent.queryParameters?.find(
    (wanted) => !child.queryParameters?.some((has) => sameParameter(has, wanted)),
  );
  if (query) return `it lacks the condition on query parameter '${query.name}' of the delegating route`;
  const method = parent.methods?.find((wanted) => !child.methods?.includes(wanted));
  return method && `it lacks the method ${method} of the delegating route`;
}

/** Returns true if each alternative of a regular expression begins with a prefix, and does not make its last character optional. */
function isBelow(regex: string, prefix: string): boolean {
  // Every path begins with a slash.
  if (prefix === '/') return true;
  return alternatives(regex).every((each) => each.startsWith(prefix) && !/^[?*{]/.test(each.slice(prefix.length)));
}

/** A part of a regular expression that is read as a whole. */
const PART = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|./gs;

/** Returns the alternatives of a regular expression outside of groups. */
function alternatives(regex: string): string[] {
  const found = [''];
  let depth = 0;
  for (const [part] of regex.matchAll(PART)) {
    if (part === '(') depth++;
    if (part === ')') depth--;
    if (part === '|' && depth === 0) found.push('');
    else found.push(found.pop()! + part);
  }
  return found;
}

function sameHeader(a: HeaderMatcher, b: HeaderMatcher): boolean {
  return sameParameter(a, b) && (a.invertMatch ?? false) === (b.invertMatch ?? false);
}

function sameParameter(a: QueryParameterMatcher, b: QueryParameterMatcher): boolean {
  return a.name === b.name && (a.value ?? '') === (b.value ?? '') && (a.regex ?? false) === (b.regex ?? false);
}
