import type { Matcher } from '../../schema/route/matcher.ts';

/**
 * Order of the routes of several tables that share a weight: more methods first, then no path, exact, regex, prefix,
 * then the path text descending. A route is sorted by its smallest matcher; equal routes keep their order.
 */
export function sortRoutes<R extends { readonly matchers: readonly Matcher[] }>(routes: readonly R[]): R[] {
  return routes
    .map((route) => ({ route, smallest: route.matchers.reduce((a, b) => (compareMatchers(b, a) < 0 ? b : a)) }))
    .sort((a, b) => compareMatchers(a.smallest, b.smallest))
    .map(({ route }) => route);
}

/** Negative if `a` comes first. */
export function compareMatchers(a: Matcher, b: Matcher): number {
  const methods = (b.methods?.length ?? 0) - (a.methods?.length ?? 0);
  if (methods !== 0) return methods;
  const kind = pathRank(a) - pathRank(b);
  if (kind !== 0) return kind;
  const [pathA, pathB] = [pathText(a), pathText(b)];
  return pathA === pathB ? 0 : pathA > pathB ? -1 : 1;
}

/** Returns the text of the path specifier; empty if none is set. */
export function pathText(matcher: Matcher): string {
  return matcher.exact ?? matcher.regex ?? matcher.prefix ?? '';
}

function pathRank(matcher: Matcher): number {
  if (matcher.exact !== undefined) return 1;
  if (matcher.regex !== undefined) return 2;
  return matcher.prefix === undefined ? 0 : 3;
}
