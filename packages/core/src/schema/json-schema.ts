import type { Schema, SchemaNode, Support } from './field.ts';
import type { KindInfo } from './kinds.ts';

/** A JSON Schema, draft 7. */
export type JsonSchema = { [key: string]: unknown };

/** Appended to the description of a field. */
const SUPPORT_NOTES: Readonly<Record<Support, string>> = {
  yes: '',
  kubernetes: ' Only with Kubernetes.',
  notYet: ' Not supported yet.',
  unsupported: ' Not supported.',
  rejected: ' Rejected: not supported yet.',
};

/**
 * Returns the description of a field, with a note if it is not supported; `undefined` without a description.
 *
 * @example
 * describeField({ description: 'Deprecated.', 'x-support': 'unsupported' }); // 'Deprecated. Not supported.'
 */
export function describeField({ description, 'x-support': support = 'yes' }: SchemaNode): string | undefined {
  return description === undefined ? undefined : `${description}${SUPPORT_NOTES[support]}`;
}

/** Returns the JSON Schema of a whole resource of a kind as written; named blocks appear once, under `$defs`. */
export function resourceSchema(info: KindInfo): JsonSchema {
  const writer = new Writer();
  const content = info.body
    ? (writer.convert(info.schema, { inline: true })['properties'] as JsonSchema)
    : { spec: { ...writer.convert(info.schema), description: info.description } };
  const metadata = {
    type: 'object',
    description: 'Name, namespace (default gw-system), labels and annotations.',
    required: ['name'],
    properties: { name: { type: 'string' }, namespace: { type: 'string', default: 'gw-system' } },
  };
  const properties = {
    apiVersion: { enum: info.apiVersions },
    kind: { enum: [info.kind] },
    metadata,
    ...content,
    status: { type: 'object', description: 'Written by the gateway; ignored when read.' },
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: info.kind,
    description: info.description,
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata'],
    properties,
    additionalProperties: false,
    $defs: Object.fromEntries([...writer.definitions].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

class Writer {
  readonly definitions = new Map<string, JsonSchema>();

  convert(schema: Schema, { inline = false } = {}): JsonSchema {
    const from = schema as unknown as JsonSchema;
    const title = (from['x-ref'] ?? from['title']) as string | undefined;
    if (title === undefined || inline) return { ...this.#describe(from), ...this.#body(from) };
    if (!from['x-ref'] && !this.definitions.has(title)) {
      this.definitions.set(title, {});
      this.definitions.set(title, this.#body(from));
    }
    return { ...this.#describe(from), $ref: `#/$defs/${title}` };
  }

  #body(from: JsonSchema): JsonSchema {
    const { type, items, minimum, maximum, properties, additionalProperties: values } = from;
    if (properties) return this.#object(from);
    if (from['enum']) return { enum: from['enum'] };
    if (from['x-format'] === 'int64') {
      return { type: [type, 'string'], pattern: from['pattern'], minimum, maximum };
    }
    return {
      ...(type !== undefined && { type }),
      ...(minimum !== undefined && { minimum }),
      ...(maximum !== undefined && { maximum }),
      ...(items !== undefined && { items: this.convert(items as Schema) }),
      ...(values !== undefined && { additionalProperties: this.convert(values as Schema) }),
    };
  }

  #object(from: JsonSchema): JsonSchema {
    const fields = Object.entries(from['properties'] as Record<string, Schema>);
    const properties: JsonSchema = Object.fromEntries(fields.map(([key, field]) => [key, this.convert(field)]));
    const options = (from['properties'] as Record<string, Schema>)['options'] as unknown as JsonSchema;
    for (const key of (from['x-hoisted'] as string[] | undefined) ?? []) {
      properties[key] = this.convert((options['properties'] as Record<string, Schema>)[key]!);
    }
    const required = from['x-required'] as string[] | undefined;
    return { type: 'object', properties, ...(required && { required }), additionalProperties: false };
  }

  #describe(from: JsonSchema): JsonSchema {
    const description = describeField(from);
    const { default: fallback } = from;
    return { ...(description !== undefined && { description }), ...(fallback !== undefined && { default: fallback }) };
  }
}
