import { dig, entries, items, text } from '../resources/objects.ts';

/** Returns the value of an option as text; as JSON where there is no shorter form. Secrets must be redacted already. */
export function optionText(option: string, value: unknown): string {
  const short = FORMS.get(option.startsWith('jwt') ? 'jwt' : option)?.(value);
  return short || JSON.stringify(value);
}

const FORMS: ReadonlyMap<string, (value: unknown) => string | undefined> = new Map([
  ['extauth', extAuthText],
  ['rbac', rbacText],
  ['headerManipulation', headersText],
  ['jwt', jwtText],
]);

function extAuthText(value: unknown): string | undefined {
  if (dig(value, 'disable') === true) return 'disabled';
  const name = text(value, 'configRef', 'name');
  const namespace = text(value, 'configRef', 'namespace');
  if (!name || hasMore(value, ['configRef', 'disable'])) return undefined;
  return `AuthConfig ${namespace && `${namespace}/`}${name}`;
}

function rbacText(value: unknown): string | undefined {
  if (dig(value, 'disable') === true) return 'disabled';
  const names = entries(value, 'policies').map(([name]) => name);
  if (names.length === 0 || hasMore(value, ['policies', 'disable'])) return undefined;
  return `${names.length === 1 ? 'policy' : 'policies'} ${names.join(', ')}`;
}

function headersText(value: unknown): string | undefined {
  const fields = ['requestHeadersToRemove', 'requestHeadersToAdd', 'responseHeadersToRemove', 'responseHeadersToAdd'];
  if (hasMore(value, fields)) return undefined;
  const [removed, added, removedLater, addedLater] = fields.map((field) => items(value, field).map(headerName));
  return [
    list('removes', removed!),
    list('adds', added!),
    list('removes from the response', removedLater!),
    list('adds to the response', addedLater!),
  ]
    .filter(Boolean)
    .join('; ');
}

function headerName(header: unknown): string {
  if (typeof header === 'string') return header;
  const key = text(header, 'header', 'key');
  if (key) return key;
  const name = text(header, 'headerSecretRef', 'name');
  const namespace = text(header, 'headerSecretRef', 'namespace');
  return `the headers of Secret ${namespace && `${namespace}/`}${name}`;
}

const list = (verb: string, names: readonly string[]): string =>
  names.length > 0 ? `${verb} ${names.join(', ')}` : '';

/** The providers and issuers; keys and headers are long. */
function jwtText(value: unknown): string | undefined {
  const providers = entries(value, 'providers');
  if (providers.length === 0) return undefined;
  const names = providers.map(([name, provider]) => {
    const issuer = text(provider, 'issuer');
    return issuer ? `${name} (${issuer})` : name;
  });
  const policy =
    text(value, 'validationPolicy') ||
    (dig(value, 'allowMissingOrFailedJwt') === true ? 'ALLOW_MISSING_OR_FAILED' : '');
  return `${providers.length === 1 ? 'provider' : 'providers'} ${names.join(', ')}${policy && `, ${policy}`}`;
}

function hasMore(value: unknown, fields: readonly string[]): boolean {
  return entries(value).some(([name]) => !fields.includes(name));
}
