import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { isWrapperDesc } from '@bufbuild/protobuf/wkt';

/**
 * Returns the fields of a path, by their names in the definition or in JSON; `undefined` if one does not exist, or if the path leads through a
 * list or a map.
 */
export function fieldsOfPath(type: DescMessage, names: readonly string[]): readonly DescField[] | undefined {
  const fields: DescField[] = [];
  let parent: DescMessage | undefined = type;
  for (const name of names) {
    const field: DescField | undefined = parent?.fields.find((each) => each.name === name || each.jsonName === name);
    if (!field) return undefined;
    // In JSON a wrapper is its value.
    if (!parent || !isWrapperDesc(parent)) fields.push(field);
    parent = field.fieldKind === 'message' ? field.message : undefined;
  }
  return fields.length === 0 ? undefined : fields;
}

/** Returns JSON with a value at a field path. */
export function nested(path: readonly DescField[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, { jsonName }) => ({ [jsonName]: inner }), value);
}
