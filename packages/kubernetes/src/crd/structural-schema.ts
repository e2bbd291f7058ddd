import { describeField, type SchemaNode } from '@edge-gateway/core';
import { exclusiveFields } from './exclusive-fields.ts';

/** A structural schema: OpenAPI v3 with the extensions of Kubernetes. */
export interface StructuralSchema {
  readonly [key: string]: unknown;
}

/** Levels of a block inside itself, by its title; below them any content is accepted and left to the control plane. */
const NESTED_LEVELS: Readonly<Record<string, number>> = { RateLimitDescriptor: 4, AccessLogFilter: 1 };

/** Durations as `parseDuration` of core reads them, without negative ones. */
const DURATION = { maxLength: 64, pattern: '^(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$' } as const;

/** Any JSON value, `null` included. */
const ANYTHING = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true } as const;

/** An object with any fields. */
export const FREE_OBJECT = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

/** The blocks around a schema, and whether they appear exactly once in a resource. */
interface Surroundings {
  readonly blocks: readonly SchemaNode[];
  readonly isSingle: boolean;
}

/** Returns the structural schema of the `spec` of a kind, without references: recursive blocks are written out. */
export function structuralSchema(spec: SchemaNode): StructuralSchema {
  return convert(spec, { blocks: [], isSingle: true });
}

function convert(written: SchemaNode, around: Surroundings): StructuralSchema {
  const description = describedWithDefault(written);
  const body = bodyOf(written, around);
  return { ...(description !== undefined && { description }), ...body };
}

function bodyOf(written: SchemaNode, around: Surroundings): StructuralSchema {
  const enclosing = around.blocks.filter(({ title }) => title !== undefined && title === written['x-ref']);
  if (enclosing.length > (NESTED_LEVELS[written['x-ref']!] ?? 1)) return FREE_OBJECT;
  const node = enclosing[0] ?? written;
  const many = { ...around, isSingle: false };
  if (node.properties) return block(node, { ...around, blocks: [...around.blocks, node] });
  if (node.items) return { type: 'array', items: convert(node.items, many) };
  if (node.additionalProperties)
    return { type: 'object', additionalProperties: convert(node.additionalProperties, many) };
  if (node.enum) return { 'x-kubernetes-int-or-string': true, enum: node.enum };
  return scalar(node);
}

function scalar({ type, minimum, maximum, ...rest }: SchemaNode): StructuralSchema {
  if (typeof type !== 'string') return ANYTHING;
  if (rest['x-format'] === 'int64') {
    return { 'x-kubernetes-int-or-string': true, pattern: rest.pattern, minimum, maximum };
  }
  return {
    type,
    ...(type === 'integer' && { format: 'int64' }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(rest['x-format'] === 'duration' && DURATION),
  };
}

function block(node: SchemaNode, around: Surroundings): StructuralSchema {
  const { properties = {}, 'x-required': required, 'x-oneof': rules = [], 'x-hoisted': beside = [] } = node;
  const options = properties['options']?.properties ?? {};
  const fields = { ...properties, ...Object.fromEntries(beside.map((key) => [key, options[key]!])) };
  const converted = Object.entries(fields).map(([key, field]) => [key, convert(field, around)] as const);
  return {
    type: 'object',
    // The API server drops an empty list of fields.
    ...(converted.length > 0 && { properties: Object.fromEntries(converted) }),
    ...(required && { required }),
    ...exclusiveFields(rules, { fields, isSingle: around.isSingle }),
  };
}

/**
 * A default is text here: if the API server wrote it into a resource, a block could no longer tell an omitted field, whose
 * value comes from a less specific level, from a written one.
 */
function describedWithDefault(node: SchemaNode): string | undefined {
  const { default: fallback } = node;
  const description = describeField(node);
  if (fallback === undefined || description === undefined) return description;
  return `${description} Default: ${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)}.`;
}
