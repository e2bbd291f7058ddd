import { dig, entries, items, text } from '../resources/objects.ts';

/** Returns the value of an option as text; as JSON where there is no shorter form. Secrets must be redacted already. */
export function optionText(option: string, value: unknown): string {
  const form = FORMS.get(option.startsWith('jwt') ? 'jwt' : option);
  return form?.(value) || JSON.stringify(value);
}

/** Each returns the short form of a value; empty if there is none. */
const FORMS: ReadonlyMap<string, (value: unknown) => string> = new Map([
  ['extauth', (value) => switchable(value, 'configRef', refText('AuthConfig', dig(value, 'configRef')))],
  ['rbac', (value) => switchable(value, 'policies', list('policy', 'policies', namesOf(value, 'policies')))],
  ['headerManipulation', headersText],
  ['jwt', jwtText],
]);

/** The text of a field, or `disabled`; empty for a value with other fields. */
function switchable(value: unknown, field: string, shown: string): string {
  if (dig(value, 'disable') === true) return 'disabled';
  return hasMore(value, [field, 'disable']) ? '' : shown;
}

function refText(kind: string, ref: unknown): string {
  const [name, namespace] = [text(ref, 'name'), text(ref, 'namespace')];
  return name && `${kind} ${namespace && `${namespace}/`}${name}`;
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

function hasMore(value: unknown, fields: readonly string[]): boolean {
  return entries(value).some(([name]) => !fields.includes(name));
}
