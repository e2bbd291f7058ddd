import type { Matcher } from '../../schema/route/matcher.ts';

/** Returns why a delegating route with these matchers is invalid, or `undefined`. */
export function delegatingProblem(matchers: readonly Matcher[]): string | undefined {
  if (matchers.length > 1) return `a delegating route must have at most one matcher, it has ${matchers.length}`;
  if (matchers[0] && hasPath(matchers[0]) && matchers[0].prefix === undefined) {
    return 'a delegating route must match by prefix';
  }
  return undefined;
}

/** Returns true if the matcher has a path specifier. */
export function hasPath({ exact, regex, prefix, connectMatcher }: Matcher): boolean {
  return (exact ?? regex ?? prefix ?? connectMatcher) !== undefined;
}
