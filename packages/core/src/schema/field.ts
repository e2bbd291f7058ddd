import { Type, type Static, type TObject, type TOptional, type TProperties, type TSchema, type TUnsafe } from 'typebox';

/**
 * How far a field is supported: `yes` works; `notYet` is accepted with a Warning that names it; `refused` is a security
 * field that does not work yet, so that a resource using it is Rejected.
 */
export type Support = 'yes' | 'notYet' | 'refused';

/** What a field says beside its type. `description` gives unit, bound and default. */
export type FieldOptions = {
  readonly description?: string;
  readonly default?: unknown;
  readonly 'x-support'?: Support;
};

/** Mixed into the options of a field that is not supported yet. */
export const notYet = { 'x-support': 'notYet' } as const;
/** Mixed into the options of a security field that is not supported yet. */
export const refused = { 'x-support': 'refused' } as const;

/** Members of which one object may set only one; with `required` it must set one. */
export interface OneOf {
  readonly members: readonly string[];
  readonly required?: boolean;
}

type AllOptional<P extends TProperties> = { [K in keyof P]: TOptional<P[K]> };

/** An object whose fields are all optional and all known. `required` and `oneOf` are checked after the schema, by name. */
export function block<P extends TProperties>(
  properties: P,
  options: FieldOptions & { oneOf?: readonly OneOf[]; required?: readonly (keyof P & string)[] } = {},
): TObject<AllOptional<P>> {
  const { oneOf, required, ...rest } = options;
  const optional = Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, Type.Optional(schema)]));
  return Type.Object(optional as AllOptional<P>, {
    ...rest,
    ...(oneOf && { 'x-oneof': oneOf }),
    ...(required && { 'x-required': required }),
    additionalProperties: false,
  }) as unknown as TObject<AllOptional<P>>;
}

/** An enum by name or number; a resource that was read always has the name. */
export function enumeration<const N extends readonly string[]>(
  names: N,
  options: FieldOptions = {},
): TUnsafe<N[number]> {
  return Type.Unsafe<N[number]>({ ...options, enum: [...names, ...names.map((_, i) => i)], 'x-enum-names': names });
}

/** A duration such as `5s`, `0.25s`, `1h`; see `parseDuration`. */
export const duration = (options: FieldOptions = {}) => Type.String({ ...options, 'x-format': 'duration' });
/** An RE2 regular expression; compiled when the resource is read. */
export const regex = (options: FieldOptions = {}) => Type.String({ ...options, 'x-format': 'regex' });
export const text = (options: FieldOptions = {}) => Type.String({ ...options });
export const bool = (options: FieldOptions = {}) => Type.Boolean({ ...options });
export const int = (options: FieldOptions & { minimum?: number; maximum?: number } = {}) =>
  Type.Integer({ ...options });
export const float = (options: FieldOptions & { minimum?: number; maximum?: number } = {}) =>
  Type.Number({ ...options });
export const list = <T extends TSchema>(items: T, options: FieldOptions = {}) => Type.Array(items, { ...options });
export const map = <T extends TSchema>(values: T, options: FieldOptions = {}) =>
  Type.Record(Type.String(), values, { ...options });
/** Any JSON value: free-form settings that are handed on. */
export const anything = (options: FieldOptions = {}) => Type.Unsafe<unknown>({ ...options });
/** An object with no fields, e.g. `random: {}`. */
export const empty = (options: FieldOptions = {}) => block({}, options);
/** `{name, namespace}`; where the namespace may be left out, the description says which one is meant. */
export const ref = (options: FieldOptions = {}) => block({ name: text(), namespace: text() }, options);
export type Ref = Static<ReturnType<typeof ref>>;
