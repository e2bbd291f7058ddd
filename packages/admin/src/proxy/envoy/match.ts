import type { Route } from '@edge-gateway/core';
import { isSensitiveName } from '../../redact.ts';
import { REDACTED, message, type Message } from './json.ts';

type Matcher = Route['matchers'][number];

/** A matcher as RouteMatch. */
export function routeMatch(matcher: Matcher): Message {
  const { headers = [], queryParameters = [], caseSensitive, methods = [] } = matcher;
  return message({
    ...pathOf(matcher),
    case_sensitive: caseSensitive,
    headers: [...headers.map(headerMatcher), ...methodMatcher(methods)],
    query_parameters: queryParameters.map(({ name, value, regex }) =>
      message({ name, ...(value ? { string_match: stringMatch(value, regex) } : { present_match: true }) }),
    ),
  });
}

function pathOf({ prefix, exact, regex, connectMatcher }: Matcher): Message {
  if (exact !== undefined) return { path: exact };
  if (regex !== undefined) return { safe_regex: { regex } };
  if (connectMatcher) return { connect_matcher: {} };
  return { prefix: prefix ?? '/' };
}

function headerMatcher({ name, value, regex, invertMatch }: NonNullable<Matcher['headers']>[number]): Message {
  const shown = value && isSensitiveName(name ?? '') ? REDACTED : value;
  const test = shown ? { string_match: stringMatch(shown, regex) } : { present_match: true };
  return message({ name: name?.toLowerCase(), ...test, invert_match: invertMatch || undefined });
}

function methodMatcher(methods: readonly string[]): Message[] {
  if (methods.length === 0) return [];
  const test = methods.length === 1 ? stringMatch(methods[0]!, false) : stringMatch(methods.join('|'), true);
  return [{ name: ':method', string_match: test }];
}

function stringMatch(value: string, isRegex = false): Message {
  return isRegex ? { safe_regex: { regex: value } } : { exact: value };
}
