import type { TSchema } from 'typebox';
import type { OneOf, Support } from '../../schema/field.ts';

/** A block of a schema, prepared for walking values. */
export interface ObjectNode {
  readonly type: 'object';
  readonly title: string | undefined;
  readonly fields: ReadonlyMap<string, FieldNode>;
  /** camelCase by snake_case. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly oneOf: readonly OneOf[];
  readonly required: readonly string[];
  readonly beside: readonly string[];
}

/** A part of a schema, prepared for walking values. */
export type Node =
  | ObjectNode
  | { readonly type: 'map'; readonly values: Node }
  | { readonly type: 'list'; readonly items: Node }
  | { readonly type: 'enum'; readonly names: readonly string[]; readonly first: number }
  | ScalarNode
  | { readonly type: 'anything' };

/** A text, a number or a switch. */
export interface ScalarNode {
  readonly type: 'scalar';
  /** The accepted types of JSON Schema. */
  readonly types: readonly string[];
  readonly format?: 'duration' | 'regex';
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A field of a block. */
export interface FieldNode {
  readonly support: Support;
  /** What to use instead, if it is not supported. */
  readonly instead: string | undefined;
  readonly default: unknown;
  /** Created at the first use, because a block may contain itself. */
  node(): Node;
}

/** The parts of schemas that are read here. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly 'x-enum-names'?: readonly string[];
  readonly 'x-format'?: ScalarNode['format'];
  readonly 'x-support'?: Support;
  readonly 'x-instead'?: string;
  readonly 'x-oneof'?: readonly OneOf[];
  readonly 'x-required'?: readonly string[];
  readonly 'x-beside'?: readonly string[];
  readonly 'x-ref'?: string;
}

const blocks = new WeakMap<object, ObjectNode>();
const titles = new Map<string, ObjectNode>();

/** Prepares a schema; returns the same node for the same block. */
export function nodeOf(schema: TSchema): Node {
  return toNode(schema as Schema);
}

function toNode(schema: Schema): Node {
  if (schema['x-ref']) return titles.get(schema['x-ref'])!;
  if (schema.properties) return toObject(schema, schema.properties);
  if (schema.type === 'object') return { type: 'map', values: toNode(schema.additionalProperties as Schema) };
  if (schema.items) return { type: 'list', items: toNode(schema.items) };
  const names = schema['x-enum-names'];
  if (names) return { type: 'enum', names, first: schema.enum?.find((value) => typeof value === 'number') as number };
  const { type, minimum, maximum, 'x-format': format } = schema;
  return type === undefined ? { type: 'anything' } : { type: 'scalar', types: [type].flat(), format, minimum, maximum };
}

function toObject(schema: Schema, properties: Readonly<Record<string, Schema>>): ObjectNode {
  const known = blocks.get(properties);
  if (known && known.title === schema.title) return known;
  const fields = new Map<string, FieldNode>();
  const aliases = new Map<string, string>();
  for (const [key, field] of Object.entries(properties)) {
    fields.set(key, toField(field));
    const snake = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (snake !== key) aliases.set(snake, key);
  }
  const node: ObjectNode = {
    type: 'object',
    title: schema.title,
    fields,
    aliases,
    oneOf: schema['x-oneof'] ?? [],
    required: schema['x-required'] ?? [],
    beside: schema['x-beside'] ?? [],
  };
  blocks.set(properties, node);
  if (schema.title) titles.set(schema.title, node);
  return node;
}

function toField(schema: Schema): FieldNode {
  let node: Node | undefined;
  return {
    support: schema['x-support'] ?? 'yes',
    instead: schema['x-instead'],
    default: schema.default,
    node: () => (node ??= toNode(schema)),
  };
}
