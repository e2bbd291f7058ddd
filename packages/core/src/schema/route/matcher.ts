import * as f from '../field.ts';

const header = f.block({
  name: f.text('Header name, case-insensitive. The pseudo headers `:authority`, `:path` and `:method` are allowed.'),
  value: f.text('Value to compare with. Unset: the header must be present.'),
  regex: f.flag('`value` is an RE2 expression that must match the whole header.'),
  invertMatch: f.flag('Inverts the match; without `value` the header must be absent.'),
});
/** A condition on one request header. */
export interface HeaderMatcher extends f.Static<typeof header> {}
export const HeaderMatcher = f.named<HeaderMatcher>('HeaderMatcher', header);

const query = f.block({
  name: f.text('Name of the query parameter.'),
  value: f.text('Value to compare with. Unset: the parameter must be present.'),
  regex: f.flag('`value` is an RE2 expression that must match the whole parameter.'),
});
/** A condition on one query parameter. */
export interface QueryParameterMatcher extends f.Static<typeof query> {}
export const QueryParameterMatcher = f.named<QueryParameterMatcher>('QueryParameterMatcher', query);

const fields = f.block(f.oneOf(['prefix', 'exact', 'regex', 'connectMatcher']), {
  prefix: f.text('String prefix of the path: `/foo` also matches `/foobar`.'),
  exact: f.text('The whole path, without the query string.'),
  regex: f.regex('RE2 expression that must match the whole path, without the query string.'),
  connectMatcher: f.empty('Matches CONNECT requests. They have no path, so other matchers do not match them.'),
  caseSensitive: f.bool('Whether `prefix` and `exact` are case-sensitive.', { default: true }),
  headers: f.list(HeaderMatcher, 'Conditions on headers; all must match.'),
  queryParameters: f.list(QueryParameterMatcher, 'Conditions on query parameters; all must match.'),
  methods: f.texts('HTTP methods in upper case; one must match. Unset: every method.'),
});
/** The requests that a route matches. */
export interface Matcher extends f.Static<typeof fields> {}
export const Matcher = f.named<Matcher>('Matcher', fields);

const stringMatcher = f.block(f.oneOf(['exact', 'prefix', 'suffix', 'safeRegex']), {
  exact: f.text('The whole string.'),
  prefix: f.text('Prefix of the string.'),
  suffix: f.text('Suffix of the string.'),
  safeRegex: f.group('Regular expression form.', { regex: f.regex('RE2 expression that matches the whole string.') }),
  ignoreCase: f.flag('Compares case-insensitively; not with `safeRegex`.'),
});
/** A condition on a string. */
export interface StringMatcher extends f.Static<typeof stringMatcher> {}
export const StringMatcher = f.named<StringMatcher>('StringMatcher', stringMatcher);

const expression = f.block({
  key: f.text('Label key.'),
  operator: f.choice(
    ['Equals', 'DoubleEquals', 'NotEquals', 'In', 'NotIn', 'Exists', 'DoesNotExist', 'GreaterThan', 'LessThan'],
    'How the label is compared with `values`.',
  ),
  values: f.texts('Values to compare with; none with `Exists` and `DoesNotExist`.'),
});
/** A label expression of a selector. */
export interface LabelExpression extends f.Static<typeof expression> {}
export const LabelExpression = f.named<LabelExpression>('LabelExpression', expression);
