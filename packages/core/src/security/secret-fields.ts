import { KINDS } from '../schema/kinds.ts';
import type { SchemaNode, Secrecy } from '../schema/field.ts';
import { isSecretHeader, isSecretParameter } from './request-secrets.ts';

/** Names of secrets in free-form settings without a schema. */
const SECRET_NAME = new RegExp(
  `^(?:${[
    '.*(?:password|passwd|passphrase)',
    'pwd?',
    'salt',
    '(?:.*[_-])?(?:client|shared|hmac)?[_-]?secret',
    '(?:.*[_-])?(?:secret|private|api|signing)[_-]?(?:access[_-]?)?key',
    '(?:.*[_-])?(?:access|refresh|id|session|bearer|auth)?[_-]?token',
    'tls\\.key',
  ].join('|')})$`,
  'i',
);

/** Names of fields that refer to Secrets: to one, or to several. */
const REFERENCE = /secret(?:refs?)?$|^(?:keyRef|signingKeyRef|rootCa)$/i;

/** A secret field of a kind. */
export interface SecretField {
  readonly kind: string;
  /** Path in the resource, with `[]` for elements of lists and `*` for keys of maps. */
  readonly path: readonly string[];
  readonly secrecy: Secrecy;
}

/** Returns every secret field of every kind, as the schemas mark them (`'x-secret'`). */
export function secretFields(): SecretField[] {
  const kinds = new Map([...KINDS.values()].map((each) => [each.kind, each.schema]));
  return [...kinds].flatMap(([kind, schema]) => fieldsOf(schema, kind, [], []));
}

function fieldsOf(node: SchemaNode, kind: string, path: readonly string[], titles: readonly string[]): SecretField[] {
  if (node['x-secret']) return [{ kind, path, secrecy: node['x-secret'] }];
  const { title, properties = {}, items, additionalProperties: values } = node;
  if (title && titles.includes(title)) return [];
  const seen = title ? [...titles, title] : titles;
  return [
    ...Object.entries(properties).flatMap(([name, field]) => fieldsOf(field, kind, [...path, name], seen)),
    ...(items ? fieldsOf(items, kind, [...path, '[]'], seen) : []),
    ...(values ? fieldsOf(values, kind, [...path, '*'], seen) : []),
  ];
}

/** Secrecy by the names of a field and then of its parent, because some names are secret in one place only. */
let byPlace: Map<string, Map<string, Secrecy>> | undefined;

function secrecyByPlace(): NonNullable<typeof byPlace> {
  const places: NonNullable<typeof byPlace> = new Map();
  for (const { kind, path, secrecy } of secretFields()) {
    // The data of a Secret is identified by its kind: a ConfigMap has the same field.
    if (kind === 'Secret') continue;
    const names = path.filter((step) => step !== '[]' && step !== '*');
    // Below a key of a map, the name of the map counts.
    const parent = `${path.at(-2) === '*' ? '*' : ''}${names.at(-2) ?? ''}`;
    const name = names.at(-1)!;
    places.set(name, (places.get(name) ?? new Map<string, Secrecy>()).set(parent, secrecy));
  }
  return places;
}

/**
 * Returns the secrecy of the field `name` of the field `parent`, which may be a key of the map `above`; `undefined` if it may be shown.
 */
export function secrecyOf(name: string, parent: string | undefined, above: string | undefined): Secrecy | undefined {
  byPlace ??= secrecyByPlace();
  const parents = byPlace.get(name);
  return parents && (parents.get(parent ?? '') ?? parents.get(`*${above ?? ''}`));
}

/** Returns true for fields, parameters and headers whose name marks the value as secret. */
export function isSecretName(name: string): boolean {
  return isSecretHeader(name.toLowerCase()) || SECRET_NAME.test(name);
}

/** Returns true for query parameters whose name marks the value as secret. */
export function isSecretQuery(name: string): boolean {
  return isSecretParameter(name) || isSecretName(name);
}

/** Returns true for fields whose value refers to one or several Secrets. */
export function refersToSecrets(field: string): boolean {
  return REFERENCE.test(field);
}
