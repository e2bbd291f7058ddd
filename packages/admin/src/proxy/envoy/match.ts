import { REDACTED_IN_LOG, isSecretName, type Route } from '@edge-gateway/core';
import { message, type Message } from './json.ts';

type Matcher = Route['matchers'][number];
type HeaderMatcher = NonNullable<Matcher['headers']>[number];

/** A matcher as RouteMatch. */
export function routeMatch(matcher: Matcher): Message {
  const { headers = [], queryParameters = [], caseSensitive, methods = [] } = matcher;
  return message({
    ...pathOf(matcher),
    case_sensitive: caseSensitive,
    headers: [...headers.map(headerMatcher), ...methodMatcher(methods)],
    query_parameters: queryParameters.map((matcher) => message({ name: matcher.name, ...valueMatch(matcher) })),
  });
}

function pathOf({ prefix, exact, regex, connectMatcher }: Matcher): Message {
  if (exact !== undefined) return { path: exact };
  if (regex !== undefined) return { safe_regex: { regex } };
  if (connectMatcher) return { connect_matcher: {} };
  return { prefix: prefix ?? '/' };
}

function headerMatcher({ name, value, regex, invertMatch }: HeaderMatcher): Message {
  return message({
    name: name?.toLowerCase(),
    ...valueMatch({ name, value, regex }),
    invert_match: invertMatch || undefined,
  });
}

/** Returns the value that a header or parameter must have; redacted if its name is that of a credential. */
function valueMatch({ name = '', value, regex }: Pick<HeaderMatcher, 'name' | 'value' | 'regex'>): Message {
  if (!value) return { present_match: true };
  return { string_match: stringMatch(isSecretName(name) ? REDACTED_IN_LOG : value, regex) };
}

function methodMatcher(methods: readonly string[]): Message[] {
  if (methods.length === 0) return [];
  const test = methods.length === 1 ? stringMatch(methods[0]!, false) : stringMatch(methods.join('|'), true);
  return [{ name: ':method', string_match: test }];
}

function stringMatch(value: string, isRegex = false): Message {
  return isRegex ? { safe_regex: { regex: value } } : { exact: value };
}
