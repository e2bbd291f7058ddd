import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import { compileRegex } from '../../syntax/regex.ts';
import type { HeaderMatcher, Matcher, QueryParameterMatcher } from '../../schema/route/matcher.ts';
import { hasPath } from './delegation.ts';
import { each } from '../check.ts';
import { checkPath } from './path.ts';

/** Returns problems of one matcher. `pathless` allows a matcher without a path specifier. */
export function checkMatcher(matcher: Matcher, at: FieldPath, { pathless }: { pathless: boolean }): FieldProblem[] {
  const { prefix, exact } = matcher;
  const missing: FieldProblem[] =
    pathless || hasPath(matcher)
      ? []
      : [
          {
            code: 'INVALID_MATCHER',
            path: at,
            message: 'no path specifier provided',
            hint: 'prefix, exact, regex, connectMatcher',
          },
        ];
  return [
    ...missing,
    ...checkMatchedPath(prefix, [...at, 'prefix']),
    ...checkMatchedPath(exact, [...at, 'exact']),
    ...each(matcher.headers, [...at, 'headers'], checkMatcherCondition),
    ...each(matcher.queryParameters, [...at, 'queryParameters'], checkMatcherCondition),
  ];
}

function checkMatchedPath(path: string | undefined, at: FieldPath): FieldProblem[] {
  const findings = checkPath(path, at);
  if (!path || path.startsWith('/') || findings.length > 0) return findings;
  const message = `the path '${path}' matches no request, because it does not begin with '/'`;
  return [{ code: 'UNMATCHABLE_PATH', severity: 'warning', path: at, message, hint: `did you mean /${path}?` }];
}

/** Returns problems of a condition on one header or query parameter. */
export function checkMatcherCondition(condition: HeaderMatcher | QueryParameterMatcher, at: FieldPath): FieldProblem[] {
  if (!condition.name)
    return [{ code: 'INVALID_MATCHER', path: at, message: 'the condition has no name', hint: 'name' }];
  if (!condition.regex || condition.value === undefined) return [];
  try {
    compileRegex(condition.value);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ code: 'INVALID_MATCHER', path: [...at, 'value'], message: `not a valid RE2 expression: ${why}` }];
  }
}
