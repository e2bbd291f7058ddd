import type { FieldPath } from '../parse/issue.ts';
import { compileRegex } from '../regex.ts';
import type { HeaderMatcher, Matcher, QueryParameterMatcher } from '../schema/matcher.ts';
import { hasPath } from './delegation.ts';
import { each, type Finding } from './finding.ts';
import { checkPath } from './path.ts';

/** Problems of one matcher. `pathless` allows it to say nothing about the path. */
export function checkMatcher(matcher: Matcher, at: FieldPath, { pathless }: { pathless: boolean }): Finding[] {
  const { prefix, exact } = matcher;
  const missing: Finding[] =
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
    ...checkPath(prefix, [...at, 'prefix']),
    ...checkPath(exact, [...at, 'exact']),
    ...each(matcher.headers, [...at, 'headers'], checkMatcherCondition),
    ...each(matcher.queryParameters, [...at, 'queryParameters'], checkMatcherCondition),
  ];
}

/** Problems of a condition on one header or query parameter. */
export function checkMatcherCondition(condition: HeaderMatcher | QueryParameterMatcher, at: FieldPath): Finding[] {
  if (!condition.name)
    return [{ code: 'INVALID_MATCHER', path: at, message: 'the condition names nothing', hint: 'name' }];
  if (!condition.regex || condition.value === undefined) return [];
  try {
    compileRegex(condition.value);
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ code: 'INVALID_MATCHER', path: [...at, 'value'], message: `not a valid RE2 expression: ${why}` }];
  }
}
