import { block, bool, empty, enumeration, list, named, notYet, of, regex, text, type Static } from './field.ts';

const header = block({
  name: text('Header name, any case. The pseudo headers `:authority`, `:path` and `:method` may be used.'),
  value: text('Value to compare with. Unset: the header only has to be present.'),
  regex: bool('`value` is an RE2 expression that has to match the whole header.', { default: false }),
  invertMatch: bool('Turns the result around; without `value` the header has to be absent.', { default: false }),
});
/** A condition on one request header. */
export interface HeaderMatcher extends Static<typeof header> {}
export const HeaderMatcher = named<HeaderMatcher>('HeaderMatcher', header);

const query = block({
  name: text('Name of the query parameter.'),
  value: text('Value to compare with. Unset: the parameter only has to be present.'),
  regex: bool('`value` is an RE2 expression that has to match the whole parameter.', { default: false }),
});
/** A condition on one query parameter. */
export interface QueryParameterMatcher extends Static<typeof query> {}
export const QueryParameterMatcher = named<QueryParameterMatcher>('QueryParameterMatcher', query);

const fields = block(
  {
    prefix: text('Textual prefix of the path: `/foo` also fits `/foobar`.'),
    exact: text('The whole path, without the query string.'),
    regex: regex('RE2 expression that has to match the whole path, without the query string.'),
    connectMatcher: empty('Fits HTTP CONNECT requests only.', notYet),
    caseSensitive: bool('Whether `prefix` and `exact` heed upper and lower case.', { default: true }),
    headers: list(HeaderMatcher, 'Conditions on headers; all have to hold.'),
    queryParameters: list(QueryParameterMatcher, 'Conditions on query parameters; all have to hold.'),
    methods: list(text(), 'HTTP methods in upper case; any of them. Unset: every method.'),
  },
  { oneOf: [{ members: ['prefix', 'exact', 'regex', 'connectMatcher'] }] },
);
/** Which requests a route takes. */
export interface Matcher extends Static<typeof fields> {}
export const Matcher = named<Matcher>('Matcher', fields);

const stringMatcher = block(
  {
    exact: text('The whole text.'),
    prefix: text('How the text begins.'),
    suffix: text('How the text ends.'),
    safeRegex: of(block({ regex: regex('RE2 expression for the whole text.') }), 'Regular expression form.'),
    ignoreCase: bool('Compare without regard to case; not for `safeRegex`.', { default: false }),
  },
  { oneOf: [{ members: ['exact', 'prefix', 'suffix', 'safeRegex'] }] },
);
/** A condition on a text. */
export interface StringMatcher extends Static<typeof stringMatcher> {}
export const StringMatcher = named<StringMatcher>('StringMatcher', stringMatcher);

const expression = block({
  key: text('Label key.'),
  operator: enumeration(
    ['Equals', 'DoubleEquals', 'NotEquals', 'In', 'NotIn', 'Exists', 'DoesNotExist', 'GreaterThan', 'LessThan'],
    'How the label is compared with `values`.',
    { default: 'Equals' },
  ),
  values: list(text(), 'Values to compare with; none for `Exists` and `DoesNotExist`.'),
});
/** A label expression of a selector. */
export interface LabelExpression extends Static<typeof expression> {}
export const LabelExpression = named<LabelExpression>('LabelExpression', expression);
