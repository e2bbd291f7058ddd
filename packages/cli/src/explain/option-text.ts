import { dig, entries, items, text } from '../resources/objects.ts';

/** Longest JSON text of an option that is shown whole. */
const LONGEST_JSON = 80;

/**
 * Returns the value of an option as text: its short form, else as JSON, else the names of its fields. Secrets must be
 * redacted already.
 */
export function optionText(option: string, value: unknown): string {
  const form = FORMS.get(option.startsWith('jwt') ? 'jwt' : option.replace(/^stagedTransformations\..*/, 'stage'));
  const short = form?.(value);
  if (short) return short;
  const json = JSON.stringify(value);
  return json.length <= LONGEST_JSON ? json : fieldsText(value);
}

/** The fields of a value, each with the number of its elements if it is a list; `-o json` shows the values. */
function fieldsText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `${value.length} elements`;
  return Object.entries(value)
    .map(([name, inner]) => (Array.isArray(inner) ? `${name} (${inner.length})` : name))
    .join(', ');
}

/** Each returns the short form of a value; empty if there is none. */
const FORMS: ReadonlyMap<string, (value: unknown) => string> = new Map([
  ['extauth', extauthText],
  ['rbac', (value) => switchable(value, 'policies', list('policy', 'policies', namesOf(value, 'policies')))],
  ['rateLimitConfigs', configsText],
  ['rateLimitEarlyConfigs', configsText],
  ['rateLimitRegularConfigs', configsText],
  ['ratelimitBasic', basicText],
  ['headerManipulation', headersText],
  ['jwt', jwtText],
  ['stage', stageText],
  ['transformations', (value) => transformationText(value)],
]);

/** The AuthConfig, or the name of the auth server; context extensions may be long. */
function extauthText(value: unknown): string {
  const custom = dig(value, 'customAuth');
  if (custom === undefined || dig(value, 'disable') === true)
    return switchable(value, 'configRef', refText('AuthConfig', dig(value, 'configRef')));
  const name = text(custom, 'name');
  return name ? `auth server ${name}` : 'the auth server of the settings';
}

/** The text of a field, or `disabled`; empty for a value with other fields. */
function switchable(value: unknown, field: string, shown: string): string {
  if (dig(value, 'disable') === true) return 'disabled';
  return hasMore(value, [field, 'disable']) ? '' : shown;
}

function refText(kind: string, ref: unknown): string {
  const [name, namespace] = [text(ref, 'name'), text(ref, 'namespace')];
  return name && `${kind} ${namespace && `${namespace}/`}${name}`;
}

/** The names of RateLimitConfigs. */
function configsText(value: unknown): string {
  const names = items(value, 'refs').map((ref) => refText('', ref).trimStart());
  return hasMore(value, ['refs']) ? '' : list('RateLimitConfig', 'RateLimitConfigs', names);
}

const USERS = [
  ['anonymousLimits', 'for each address without a user'],
  ['authorizedLimits', 'for each user'],
] as const;

/** The limits for known and unknown users, if they are plain. */
function basicText(value: unknown): string {
  if (USERS.some(([field]) => hasMore(dig(value, field), ['requestsPerUnit', 'unit']))) return '';
  const limits = USERS.flatMap(([field, users]) => {
    const amount = text(value, field, 'requestsPerUnit');
    return amount ? [`${amount} per ${text(value, field, 'unit')} ${users}`] : [];
  });
  return limits.join(', ');
}

const namesOf = (value: unknown, field: string): string[] => entries(value, field).map(([name]) => name);

const list = (one: string, several: string, names: readonly string[]): string =>
  names.length > 0 ? `${names.length === 1 ? one : several} ${names.join(', ')}` : '';

const HEADER_FIELDS: readonly (readonly [field: string, verb: string])[] = [
  ['requestHeadersToRemove', 'removes'],
  ['requestHeadersToAdd', 'adds'],
  ['responseHeadersToRemove', 'removes from the response'],
  ['responseHeadersToAdd', 'adds to the response'],
];

/** The names of the headers; their values may be secret. */
function headersText(value: unknown): string {
  const fields = HEADER_FIELDS.map(([field]) => field);
  if (hasMore(value, fields)) return '';
  const parts = HEADER_FIELDS.map(([field, verb]) => list(verb, verb, items(value, field).map(headerName)));
  return parts.filter(Boolean).join('; ');
}

function headerName(header: unknown): string {
  if (typeof header === 'string') return header;
  return text(header, 'header', 'key') || refText('the headers of Secret', dig(header, 'headerSecretRef'));
}

/** The providers and issuers; keys and headers are long. */
function jwtText(value: unknown): string {
  const names = entries(value, 'providers').map(([name, provider]) => {
    const issuer = text(provider, 'issuer');
    return issuer ? `${name} (${issuer})` : name;
  });
  const allowsFailed = dig(value, 'allowMissingOrFailedJwt') === true ? 'ALLOW_MISSING_OR_FAILED' : '';
  const policy = text(value, 'validationPolicy') || allowsFailed;
  return names.length === 0 ? '' : `${list('provider', 'providers', names)}${policy && `, ${policy}`}`;
}

const TRANSFORMATIONS = [
  ['requestTransformation', 'of the request'],
  ['responseTransformation', 'of the response'],
] as const;

/** The transformations of a stage; empty if it has none. */
function stageText(value: unknown): string {
  const requests = items(value, 'requestTransforms').map(transformationText);
  const responses = items(value, 'responseTransforms').map(transformationText);
  return [...requests, ...responses].filter(Boolean).join('; ');
}

/** What is set by a transformation of a request or response: the names of the fields of its template. */
function transformationText(value: unknown): string {
  const parts = TRANSFORMATIONS.flatMap(([field, of]) => {
    const changes = entries(value, field).flatMap(([, template]) => templateText(template));
    return changes.length > 0 ? [`${of}: ${changes.join(', ')}`] : [];
  });
  return parts.join('; ');
}

const templateText = (template: unknown): string[] =>
  entries(template).map(([name]) => {
    const names = namesOf(template, name);
    return ['headers', 'extractors'].includes(name) && names.length > 0 ? `${name} ${names.join(', ')}` : name;
  });

function hasMore(value: unknown, fields: readonly string[]): boolean {
  return entries(value).some(([name]) => !fields.includes(name));
}
