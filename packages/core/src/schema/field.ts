/**
 * How far a field is supported: `yes` works; `kubernetes` works if the resources come from Kubernetes, otherwise a Warning names it; `notYet` and `unsupported` are accepted with a Warning that names it, the latter are not
 * planned; `rejected` is a security field that does not work, so that a resource using it is Rejected. What lies below an
 * unsupported field is too.
 */
export type Support = 'yes' | 'kubernetes' | 'notYet' | 'unsupported' | 'rejected';

/** Annotations of a field besides its type and description. */
export interface FieldOptions {
  readonly default?: unknown;
  readonly 'x-support'?: Support;
  /** True if the field is an addition of this gateway: the reference does not have it. */
  readonly 'x-addition'?: boolean;
  /** What to use instead of an unsupported field, or why it is not needed. */
  readonly 'x-instead'?: string;
  /** Set on a field that holds a secret itself, not on a reference to one. */
  readonly 'x-secret'?: Secrecy;
}

/**
 * The part of a secret field that is hidden: the whole value, only the private parts of a JWK, a JWK set or a PEM key, or the literal texts of
 * header values, but not their operators and templates.
 */
export type Secrecy = 'value' | 'keySet' | 'header';
/** Mixed into the options of a field that holds a secret. */
export const secret = { 'x-secret': 'value' } as const;
/** Mixed into the options of a field with the value of a header or query parameter that is added, or with such values by name. */
export const headerValue = { 'x-secret': 'header' } as const;
/** Mixed into the options of a field that holds keys, public or symmetric. */
export const secretKeys = { 'x-secret': 'keySet' } as const;

/** Mixed into the options of a field that only this gateway has. */
export const addition = { 'x-addition': true } as const;

/** Mixed into the options of a field that has an effect only if the resources come from Kubernetes. */
export const onKubernetes = { 'x-support': 'kubernetes' } as const;
/** Mixed into the options of a field that is not supported yet. */
export const notYet = { 'x-support': 'notYet' } as const;
/** Mixed into the options of a field that is not planned. */
export const unsupported = { 'x-support': 'unsupported' } as const;
/** Mixed into the options of a field that is not planned, with the reason or with what to use instead. */
export const replacedBy = (instead: string) => ({ ...unsupported, 'x-instead': instead }) as const;
/** Mixed into the options of a security field that is not supported yet. */
export const rejected = { 'x-support': 'rejected' } as const;

/** Members of which an object may set at most one; with `required` exactly one, otherwise `message` is reported. */
export interface OneOf {
  readonly members: readonly string[];
  readonly required?: boolean;
  readonly message?: string;
}

/** Rules of a block besides its fields; checked by name. */
export interface BlockRules {
  readonly 'x-oneof'?: readonly OneOf[];
  readonly 'x-required'?: readonly string[];
  readonly 'x-hoisted'?: readonly string[];
}
/** At most one field of each group may be set. */
export const oneOf = (...groups: readonly (readonly string[])[]): BlockRules => ({
  'x-oneof': groups.map((members) => ({ members })),
});
/** At most one field of the block may be set. */
export const exclusive = oneOf([]);
/** One of the fields must be set, otherwise `message` is reported. */
export const exactlyOne = (message: string, ...members: readonly string[]): BlockRules => ({
  'x-oneof': [{ members, required: true, message }],
});
/** Fields that must be set. */
export const required = (...fields: readonly string[]): BlockRules => ({ 'x-required': fields });
/** Keys of the field `options` that may also be written beside it; normalization moves them there. */
export const beside = (...fields: readonly string[]): BlockRules => ({ 'x-hoisted': fields });

/** A schema as walks read it. */
export interface SchemaNode extends FieldOptions, BlockRules, Bounds {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: false | SchemaNode;
  readonly items?: SchemaNode;
  readonly enum?: readonly (string | number)[];
  readonly 'x-enum-names'?: readonly string[];
  readonly 'x-format'?: 'duration' | 'regex' | 'int64';
  /** Of the text of an `int64`. */
  readonly pattern?: string;
  /** The schemas of values of different types. */
  readonly anyOf?: readonly SchemaNode[];
  /** Set on a value of a program: returns what is wrong with it. */
  readonly 'x-value'?: ValueProblem;
  /** The title of an enclosing block. */
  readonly 'x-ref'?: string;
}

/**
 * A schema with the type of its values. Types of TypeBox would do the same; without them a program that imports a middleware makes
 * the compiler read a third of the types.
 */
export interface Schema<T = unknown> extends SchemaNode {
  /** Exists only in types. */
  readonly '~values'?: T;
}
/** The type of the values that match a schema. */
export type Static<S> = S extends Schema<infer T> ? T : never;

/** Returns what is wrong with a value of a program, e.g. `must be a store`; `undefined` if nothing is. */
export type ValueProblem = (value: unknown) => string | undefined;

/** Decimal text of a number of 64 bits. */
export const INT64_TEXT = /^-?(0|[1-9][0-9]{0,19})$/;

/** Bounds of a number, both included. */
export interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
}

type Fields = Readonly<Record<string, Schema>>;
type Block<P extends Fields> = { readonly [K in keyof P]?: Static<P[K]> };

function field<T>(schema: object, description: string | undefined, options: object = {}): Schema<T> {
  return typed<T>({ ...schema, ...options, ...(description !== undefined && { description }) });
}

/** Gives a JSON Schema its type. */
function typed<T>(schema: object): Schema<T> {
  return schema as Schema<T>;
}

/** Creates the function that describes a field of one schema. */
const scalar =
  <T, O extends FieldOptions = FieldOptions>(schema: object) =>
  (description?: string, options?: O): Schema<T> =>
    field<T>(schema, description, options);

/** The rules and annotations of a block, and its fields. */
type Parts<P> = readonly [...rules: readonly (BlockRules & FieldOptions)[], fields: P];

/** An object with known, optional fields. */
export function block<const P extends Fields>(...parts: Parts<P>): Schema<Block<P>> {
  const properties = parts.at(-1) as P;
  const rules = Object.assign({}, ...parts.slice(0, -1)) as BlockRules;
  const oneOf = rules['x-oneof']?.map((rule) =>
    rule.members.length > 0 ? rule : { members: Object.keys(properties) },
  );
  return typed<Block<P>>({
    type: 'object',
    properties,
    ...rules,
    ...(oneOf && { 'x-oneof': oneOf }),
    additionalProperties: false,
  });
}

/** A field with a block. */
export const group = <const P extends Fields>(description: string, ...parts: Parts<P>) =>
  field<Block<P>>(block(...parts), description);
/** A field with a list of blocks. */
export const groups = <const P extends Fields>(description: string, ...parts: Parts<P>) =>
  list<Block<P>>(block(...parts), description);

/**
 * Gives a block its shared name, and its interface in types.
 *
 * @example
 * const fields = block({ path: text('Exact path.') });
 * export interface HealthCheck extends Static<typeof fields> {}
 * export const HealthCheck = named<HealthCheck>('HealthCheck', fields);
 */
export function named<T>(title: string, fields: Schema<unknown>): Schema<T> {
  return field<T>(fields, undefined, { title });
}

/** Refers to the enclosing named block, so that a block can contain itself. */
export const self = (title: string): Schema<unknown> => typed<unknown>({ 'x-ref': title });

/** A field with another schema, described for this place. */
export const of = <T>(schema: Schema<T>, description: string, options?: FieldOptions): Schema<T> =>
  field<T>(schema, description, options);

/** An enum, written by name or number (from 0); validated resources always contain the name. */
export function enumeration<const N extends readonly string[]>(
  names: N,
  description?: string,
  options?: FieldOptions,
): Schema<N[number]> {
  return field<N[number]>({ enum: [...names, ...names.keys()], 'x-enum-names': names }, description, options);
}

/** An enum whose first name is its default. */
export const choice = <const N extends readonly string[]>(names: N, description: string, options?: FieldOptions) =>
  enumeration(names, description, { default: names[0], ...options });

/** A duration such as `5s`, `0.25s`, `1h`; see `parseDuration`. */
export const duration = scalar<string>({ type: 'string', 'x-format': 'duration' });
/** An RE2 regular expression; compiled when the resource is read. */
export const regex = scalar<string>({ type: 'string', 'x-format': 'regex' });
export const text = scalar<string>({ type: 'string' });
export const bool = scalar<boolean>({ type: 'boolean' });
/** A switch that is off by default. */
export const flag = (description: string, options?: FieldOptions) => bool(description, { default: false, ...options });
/** Text, also written as `true` or `false` without quotes. */
export const textOrBool = scalar<string | boolean>({ type: ['string', 'boolean'] });
export const int = scalar<number, FieldOptions & Bounds>({ type: 'integer' });
/** A number that is not negative. */
export const count = (description: string, options?: FieldOptions) => int(description, { minimum: 0, ...options });
/** A number of 32 bits without sign. */
export const uint32 = (description: string, options?: FieldOptions) =>
  int(description, { minimum: 0, maximum: 4294967295, ...options });
/**
 * A number of 64 bits, also written as decimal text, as JSON of protobuf does; validated resources contain the number. Digits beyond what a number
 * of JavaScript keeps are out of range.
 */
export const int64 = (description: string, options?: FieldOptions & Bounds) =>
  field<number>(
    {
      type: 'integer',
      'x-format': 'int64',
      pattern: INT64_TEXT.source,
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    },
    description,
    options,
  );
/** A number of a port; 0 where the field describes it. */
export const port = (description: string, options?: FieldOptions) =>
  int(description, { minimum: 0, maximum: 65535, ...options });
export const float = scalar<number, FieldOptions & Bounds>({ type: 'number' });
export const list = <T>(items: Schema<T>, description?: string, options?: FieldOptions) =>
  field<readonly T[]>({ type: 'array', items }, description, options);
export const map = <T>(values: Schema<T>, description?: string, options?: FieldOptions) =>
  field<Readonly<Record<string, T>>>({ type: 'object', additionalProperties: values }, description, options);
export const texts = (description: string, options?: FieldOptions) => list(text(), description, options);
/** Any JSON value: free-form settings that are passed on. */
export const anything = scalar<unknown>({});
/** An object with no fields, e.g. `random: {}`. */
export const empty = (description?: string, options?: FieldOptions) =>
  field<Block<{}>>(block({}), description, options);

/** One of two schemas of values of different types, e.g. a text or a block. */
export const either = <A, B>(one: Schema<A>, other: Schema<B>) => typed<A | B>({ anyOf: [one, other] });
/** A value of a program, such as a store, which no resource contains. It is passed on as it is. */
export const value = <T>(problem: ValueProblem) => typed<T>({ 'x-value': problem });

/** A block with other fields: one of the same name is replaced, or removed by `undefined`. */
export function extended(of: Schema, fields: Readonly<Record<string, Schema | undefined>>): Schema {
  const all = Object.entries({ ...of.properties, ...fields }).filter(([, each]) => each !== undefined);
  return typed({ ...of, title: undefined, properties: Object.fromEntries(all) });
}

/** Returns the schema of a field of a block, or of the blocks in it. Throws a `TypeError` if it has none. */
export function fieldOf<T = unknown>(of: Schema, ...path: readonly string[]): Schema<T> {
  const found = path.reduce<SchemaNode | undefined>((node, key) => node?.properties?.[key], of);
  if (!found) throw new TypeError(`no field ${path.join('.')}`);
  return found as Schema<T>;
}

const refFields = block({
  name: text('Name of the resource.'),
  namespace: text('Its namespace. If it is optional, the field with the reference describes the default.'),
});
/** A reference to a resource; the namespace may be omitted if the field describes a default. */
export interface Ref extends Static<typeof refFields> {}
export const Ref = named<Ref>('Ref', refFields);
/** A field that names another resource. */
export const ref = (description?: string, options?: FieldOptions) => field<Ref>(Ref, description, options);
