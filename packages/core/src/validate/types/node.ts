import type { OneOf, SchemaNode, ValueProblem } from '../../schema/field.ts';
import { isObject } from '../resource-identity.ts';

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
  | { readonly type: 'either'; readonly nodes: readonly Node[] }
  | { readonly type: 'value'; readonly problem: ValueProblem }
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
export function nodeOf(schema: SchemaNode): Node {
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
  if (schema.anyOf) return { type: 'either', nodes: schema.anyOf.map(nodeOf) };
  if (schema['x-value']) return { type: 'value', problem: schema['x-value'] };
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
    beside: schema['x-hoisted'] ?? [],
  };
}

/** Returns the node of several whose type a value has; the last one if none fits. */
export function fittingNode(nodes: readonly Node[], value: unknown): Node {
  return nodes.find((node) => fits(node, value)) ?? nodes.at(-1)!;
}

/** Returns true if a value has the type of a node. */
export function fits(node: Node, value: unknown): boolean {
  if (node.type === 'either') return node.nodes.some((each) => fits(each, value));
  if (node.type === 'scalar')
    return node.types.includes(typeof value) || (node.types.includes('integer') && typeof value === 'number');
  if (node.type === 'enum') return typeof value === 'string';
  if (node.type === 'list') return Array.isArray(value);
  if (node.type === 'object' || node.type === 'map') return isObject(value);
  return node.type === 'anything' || node.problem(value) === undefined;
}
