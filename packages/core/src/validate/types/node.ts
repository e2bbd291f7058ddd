import type { TSchema } from 'typebox';
import type { OneOf, SchemaNode } from '../../schema/field.ts';

/** A block of a schema, prepared for walking values. */
export interface ObjectNode {
  readonly type: 'object';
  readonly title: string | undefined;
  readonly fields: ReadonlyMap<string, SchemaNode>;
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
  | { readonly type: 'enum'; readonly names: readonly string[] }
  | ScalarNode
  | { readonly type: 'anything' };

/** A text, a number or a switch. */
export interface ScalarNode {
  readonly type: 'scalar';
  /** The accepted types of JSON Schema. */
  readonly types: readonly string[];
  readonly format?: SchemaNode['x-format'];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** By schema; those of blocks by their properties, which all descriptions of a block share. */
const nodes = new WeakMap<object, Node>();
const titles = new Map<string, Node>();

/** Prepares a schema; returns the same node for the same schema or block. */
export function nodeOf(schema: TSchema | SchemaNode): Node {
  const { title, properties, 'x-ref': enclosing } = schema as SchemaNode;
  if (enclosing) return titles.get(enclosing)!;
  const key = properties ?? schema;
  const known = nodes.get(key);
  if (known && (known.type !== 'object' || known.title === title)) return known;
  const node = toNode(schema as SchemaNode);
  nodes.set(key, node);
  if (title) titles.set(title, node);
  return node;
}

function toNode(schema: SchemaNode): Node {
  const { type, minimum, maximum, items, properties, additionalProperties: values, 'x-enum-names': names } = schema;
  if (properties) return toObject(schema, properties);
  if (values) return { type: 'map', values: nodeOf(values) };
  if (items) return { type: 'list', items: nodeOf(items) };
  if (names) return { type: 'enum', names };
  if (type === undefined) return { type: 'anything' };
  return { type: 'scalar', types: [type].flat(), format: schema['x-format'], minimum, maximum };
}

function toObject(schema: SchemaNode, properties: NonNullable<SchemaNode['properties']>): ObjectNode {
  const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    type: 'object',
    title: schema.title,
    fields: new Map(Object.entries(properties)),
    aliases: new Map(Object.keys(properties).flatMap((key) => (snake(key) === key ? [] : [[snake(key), key]]))),
    oneOf: schema['x-oneof'] ?? [],
    required: schema['x-required'] ?? [],
    beside: schema['x-beside'] ?? [],
  };
}
