import { ScalarType, type DescField, type DescMessage } from '@bufbuild/protobuf';
import { hasCustomJsonRepresentation } from '@bufbuild/protobuf/wkt';

const known = new WeakMap<DescMessage, boolean>();

/** Returns true if messages of a type may contain a `float`. */
export function hasFloats(type: DescMessage): boolean {
  const found = known.get(type);
  if (found !== undefined) return found;
  const seen = new Set<DescMessage>();
  const search = (each: DescMessage): boolean => {
    if (seen.has(each)) return false;
    seen.add(each);
    return each.fields.some(
      ({ scalar, message }) => scalar === ScalarType.FLOAT || (message !== undefined && search(message)),
    );
  };
  const result = search(type);
  known.set(type, result);
  return result;
}

/** Writes each `float` of the JSON of a message with as many digits as it has: `0.1` is read as `0.10000000149011612`. */
export function shortenFloats(type: DescMessage, json: unknown, useProtoFieldName: boolean): unknown {
  if (type.typeName === 'google.protobuf.FloatValue') return shortest(json);
  if (typeof json !== 'object' || json === null || hasCustomJsonRepresentation(type) || !hasFloats(type)) return json;
  const fields = json as Record<string, unknown>;
  for (const field of type.fields) {
    const key = useProtoFieldName ? field.name : field.jsonName;
    if (Object.hasOwn(fields, key)) fields[key] = shortenField(field, fields[key], useProtoFieldName);
  }
  return json;
}

function shortenField(field: DescField, json: unknown, useProtoFieldName: boolean): unknown {
  const { message, scalar, fieldKind } = field;
  if (!message && scalar !== ScalarType.FLOAT) return json;
  const shorten = (value: unknown): unknown =>
    message ? shortenFloats(message, value, useProtoFieldName) : shortest(value);
  if (fieldKind === 'list') return (json as unknown[]).map(shorten);
  if (fieldKind !== 'map') return shorten(json);
  return Object.fromEntries(Object.entries(json as object).map(([key, value]) => [key, shorten(value)]));
}

/** A `float` has 6 to 9 significant digits. */
const DIGITS = [6, 7, 8, 9];

/** `NaN` and infinity are texts. */
function shortest(value: unknown): unknown {
  if (typeof value !== 'number') return value;
  return DIGITS.map((digits) => Number(value.toPrecision(digits))).find((each) => Math.fround(each) === value) ?? value;
}
