import { ScalarType, type DescEnum, type DescField, type DescMessage } from '@bufbuild/protobuf';
import { isWrapperDesc } from '@bufbuild/protobuf/wkt';

/** Messages whose JSON is a string. */
const TEXTS: ReadonlySet<string> = new Set(
  ['Timestamp', 'Duration', 'FieldMask', 'Value'].map((name) => `google.protobuf.${name}`),
);

/**
 * Returns the JSON of a field with the text of a path or a query; of a list with one item. Throws an `Error` if a text cannot
 * represent it.
 */
export function jsonOfText(field: DescField, text: string): unknown {
  if (field.fieldKind === 'map') throw new Error('a map cannot be set by a parameter');
  const value = valueOf(field, text);
  return field.fieldKind === 'list' ? [value] : value;
}

function valueOf({ enum: values, message, scalar }: DescField, text: string): unknown {
  if (values) return enumOf(values, text);
  if (!message) return scalarOf(scalar!, text);
  return messageOf(message, text);
}

function messageOf(message: DescMessage, text: string): unknown {
  if (isWrapperDesc(message)) return scalarOf(message.fields[0]!.scalar!, text);
  if (!TEXTS.has(message.typeName)) throw new Error('a message cannot be set by a parameter');
  return text;
}

/** As in Envoy. */
const TRUE: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y', '1']);
const FALSE: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n', '0']);

/** Numbers may be strings in the JSON of a message. */
function scalarOf(scalar: ScalarType, text: string): unknown {
  if (scalar !== ScalarType.BOOL) return text;
  const lower = text.toLowerCase();
  if (!TRUE.has(lower) && !FALSE.has(lower)) throw new Error(`expected true or false, got ${JSON.stringify(text)}`);
  return TRUE.has(lower);
}

function enumOf({ values }: DescEnum, text: string): unknown {
  return !values.some(({ name }) => name === text) && /^-?\d{1,10}$/.test(text) ? Number(text) : text;
}
