import type { Route } from '../contract/snapshot.ts';
import { shownValue, type MessageContext } from './translation-context.ts';
import { isSecretName, isSecretQuery } from '../security/secret-fields.ts';
import { message, type EnvoyMessage } from './message.ts';

type Matcher = Route['matchers'][number];
type Target = Pick<MessageContext, 'services'>;
type HeaderMatcher = NonNullable<Matcher['headers']>[number];

/** A matcher as RouteMatch. */
export function routeMatch(matcher: Matcher, context: Target): EnvoyMessage {
  const { headers = [], queryParameters = [], caseSensitive, methods = [] } = matcher;
  return message({
    ...pathOf(matcher),
    case_sensitive: caseSensitive,
    headers: [...headers.map((each) => headerMatcher(each, context)), ...methodMatcher(methods)],
    query_parameters: queryParameters.map((matcher) =>
      message({ name: matcher.name, ...valueMatch(matcher, isSecretQuery(matcher.name ?? ''), context) }),
    ),
  });
}

function pathOf({ prefix, exact, regex, connectMatcher }: Matcher): EnvoyMessage {
  if (exact !== undefined) return { path: exact };
  if (regex !== undefined) return { safe_regex: { regex } };
  if (connectMatcher) return { connect_matcher: {} };
  return { prefix: prefix ?? '/' };
}

/** A condition on a header as HeaderMatcher. */
export function headerMatcher({ name, value, regex, invertMatch }: HeaderMatcher, context: Target): EnvoyMessage {
  return message({
    name: name?.toLowerCase(),
    ...valueMatch({ value, regex }, isSecretName(name ?? ''), context),
    invert_match: invertMatch || undefined,
  });
}

/** Returns the value that a header or parameter must have; redacted in a dump if it is secret. */
function valueMatch(
  { value, regex }: Pick<HeaderMatcher, 'value' | 'regex'>,
  isSecret: boolean,
  context: Target,
): EnvoyMessage {
  if (!value) return { present_match: true };
  return { string_match: stringMatch(shownValue(value, isSecret, context), regex) };
}

function methodMatcher(methods: readonly string[]): EnvoyMessage[] {
  if (methods.length === 0) return [];
  const test = methods.length === 1 ? stringMatch(methods[0]!, false) : stringMatch(methods.join('|'), true);
  return [{ name: ':method', string_match: test }];
}

function stringMatch(value: string, isRegex = false): EnvoyMessage {
  return isRegex ? { safe_regex: { regex: value } } : { exact: value };
}
