import { block, bool, empty, enumeration, list, named, notYet, of, regex, text, type Static } from '../field.ts';

const header = block({
  name: text('Header name, case-insensitive. The pseudo headers `:authority`, `:path` and `:method` are allowed.'),
  value: text('Value to compare with. Unset: the header must be present.'),
  regex: bool('`value` is an RE2 expression that must match the whole header.', { default: false }),
  invertMatch: bool('Inverts the match; without `value` the header must be absent.', { default: false }),
});
/** A condition on one request header. */
export interface HeaderMatcher extends Static<typeof header> {}
export const HeaderMatcher = named<HeaderMatcher>('HeaderMatcher', header);

const query = block({
  name: text('Name of the query parameter.'),
  value: text('Value to compare with. Unset: the parameter must be present.'),
  regex: bool('`value` is an RE2 expression that must match the whole parameter.', { default: false }),
});
/** A condition on one query parameter. */
export interface QueryParameterMatcher extends Static<typeof query> {}
export const QueryParameterMatcher = named<QueryParameterMatcher>('QueryParameterMatcher', query);

const fields = block(
  {
    prefix: text('String prefix of the path: `/foo` also matches `/foobar`.'),
    exact: text('The whole path, without the query string.'),
    regex: regex('RE2 expression that must match the whole path, without the query string.'),
    connectMatcher: empty('Matches only HTTP CONNECT requests.', notYet),
    caseSensitive: bool('Whether `prefix` and `exact` are case-sensitive.', { default: true }),
    headers: list(HeaderMatcher, 'Conditions on headers; all must match.'),
    queryParameters: list(QueryParameterMatcher, 'Conditions on query parameters; all must match.'),
    methods: list(text(), 'HTTP methods in upper case; one must match. Unset: every method.'),
  },
  { oneOf: [{ members: ['prefix', 'exact', 'regex', 'connectMatcher'] }] },
);
/** The requests that a route matches. */
export interface Matcher extends Static<typeof fields> {}
export const Matcher = named<Matcher>('Matcher', fields);

const stringMatcher = block(
  {
    exact: text('The whole string.'),
    prefix: text('Prefix of the string.'),
    suffix: text('Suffix of the string.'),
    safeRegex: of(block({ regex: regex('RE2 expression that matches the whole string.') }), 'Regular expression form.'),
    ignoreCase: bool('Compares case-insensitively; not with `safeRegex`.', { default: false }),
  },
  { oneOf: [{ members: ['exact', 'prefix', 'suffix', 'safeRegex'] }] },
);
/** A condition on a string. */
export interface StringMatcher extends Static<typeof stringMatcher> {}
export const StringMatcher = named<StringMatcher>('StringMatcher', stringMatcher);

const expression = block({
  key: text('Label key.'),
  operator: enumeration(
    ['Equals', 'DoubleEquals', 'NotEquals', 'In', 'NotIn', 'Exists', 'DoesNotExist', 'GreaterThan', 'LessThan'],
    'How the label is compared with `values`.',
    { default: 'Equals' },
  ),
  values: list(text(), 'Values to compare with; none with `Exists` and `DoesNotExist`.'),
});
/** A label expression of a selector. */
export interface LabelExpression extends Static<typeof expression> {}
export const LabelExpression = named<LabelExpression>('LabelExpression', expression);
