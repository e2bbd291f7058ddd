import { compileRegex } from '../../syntax/regex.ts';
import type { HeaderMatcher, Matcher, QueryParameterMatcher } from '../../schema/route/matcher.ts';
import { each, fields, reporterOf, thrownBy, type Check } from '../check.ts';
import { checkPath } from './check-path.ts';

const invalid = reporterOf('INVALID_MATCHER');
const unmatchable = reporterOf('UNMATCHABLE_PATH');
const unmatchableMethod = reporterOf('UNMATCHABLE_METHOD');

/** Returns problems of one matcher, which may have no path specifier. */
export const checkConditions: Check<Matcher> = (matcher, at) =>
  fields(matcher, at, {
    prefix: checkMatchedPath,
    exact: checkMatchedPath,
    headers: (headers, path) => each(headers, path, checkMatcherCondition),
    queryParameters: (parameters, path) => each(parameters, path, checkMatcherCondition),
    methods: (methods, path) => each(methods, path, checkMethod),
  });

/** Returns problems of one matcher, which must have a path specifier. */
export const checkMatcher: Check<Matcher> = (matcher, at) => [
  ...invalid(!hasPath(matcher) && 'no path specifier provided', at, { hint: 'prefix, exact, regex, connectMatcher' }),
  ...checkConditions(matcher, at),
];

/** Returns true if the matcher has a path specifier. */
export function hasPath({ exact, regex, prefix, connectMatcher }: Matcher): boolean {
  return (exact ?? regex ?? prefix ?? connectMatcher) !== undefined;
}

/** Returns why a delegating route with these matchers is invalid, or `undefined`. */
export function delegatingProblem(matchers: readonly Matcher[]): string | undefined {
  if (matchers.length > 1) return `a delegating route must have at most one matcher, it has ${matchers.length}`;
  if (matchers[0] && hasPath(matchers[0]) && matchers[0].prefix === undefined) {
    return 'a delegating route must match by prefix';
  }
  return undefined;
}

const checkMatchedPath: Check<string> = (path, at) => {
  const findings = checkPath(path, at);
  if (!path || path.startsWith('/') || findings.length > 0) return findings;
  const message = `the path '${path}' matches no request, because it does not begin with '/'`;
  return unmatchable(message, at, { severity: 'warning', hint: `did you mean /${path}?` });
};

/** Returns a warning for a method that no request has. */
export const checkMethod: Check<string> = (method, at) => {
  const known = method.toUpperCase();
  const message = method !== known && 'no request has this method: methods are case-sensitive';
  return unmatchableMethod(message, at, { severity: 'warning', hint: `did you mean ${known}?` });
};

/** Returns problems of a condition on one header or query parameter. */
export const checkMatcherCondition: Check<HeaderMatcher | QueryParameterMatcher> = ({ name, regex, value }, at) => {
  if (!name) return invalid('the condition has no name', at, { hint: 'name' });
  const why = regex && value !== undefined ? thrownBy(() => compileRegex(value)) : undefined;
  return invalid(why && `not a valid RE2 expression: ${why}`, [...at, 'value']);
};
