import type { Matcher } from '../../schema/route/matcher.ts';

/** Why a delegating route with these matchers is refused, or `undefined`. */
export function delegatingProblem(matchers: readonly Matcher[]): string | undefined {
  if (matchers.length > 1) return `a route that delegates may have one matcher, it has ${matchers.length}`;
  if (matchers[0] && hasPath(matchers[0]) && matchers[0].prefix === undefined) {
    return 'a route that delegates has to match by prefix';
  }
  return undefined;
}

/** True when the matcher says something about the path. */
export function hasPath({ exact, regex, prefix, connectMatcher }: Matcher): boolean {
  return (exact ?? regex ?? prefix ?? connectMatcher) !== undefined;
}
