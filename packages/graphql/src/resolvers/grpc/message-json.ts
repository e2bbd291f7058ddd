import {
  fromBinary,
  fromJson,
  ScalarType,
  toBinary,
  toJson,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Registry,
} from '@bufbuild/protobuf';
import { hasCustomJsonRepresentation } from '@bufbuild/protobuf/wkt';
import { isRecord } from '../../document/json.ts';
import { lenientRegistry } from '@edge-gateway/core/descriptors';

const MAX_DEPTH = 64;

/** Encodes JSON as a message (ProtoJSON), leniently: unknown keys are ignored, numbers and booleans accepted as text. */
export function encodeJson(type: DescMessage, json: unknown, registry: Registry): Uint8Array {
  const fields = fieldsOf(type, json, 0);
  return toBinary(type, fromJson(type, fields as JsonValue, { registry }));
}

/** Decodes a message as JSON: each field under its camel-case name and, if different, its name in the definition. */
export function decodeJson(type: DescMessage, bytes: Uint8Array, registry: Registry): unknown {
  const json = toJson(type, fromBinary(type, bytes), { registry: lenientRegistry(registry), alwaysEmitImplicit: true });
  return withNames(type, json);
}

function fieldsOf(type: DescMessage, json: unknown, depth: number): unknown {
  if (hasCustomJsonRepresentation(type)) return specialOf(type, json);
  if (json === null || json === undefined) return {};
  if (!isRecord(json)) throw new Error(`${type.name} must be an object`);
  if (depth > MAX_DEPTH) throw new Error('the message is nested too deep');
  const made: Record<string, unknown> = {};
  for (const field of type.fields) {
    const name = [field.jsonName, field.name].find((each) => Object.hasOwn(json, each));
    const value = name === undefined ? undefined : json[name];
    if (value === undefined || (value === null && field.message?.typeName !== 'google.protobuf.Value')) continue;
    made[field.jsonName] = convert(field, value, {
      message: (inner, part) => fieldsOf(inner, part, depth + 1),
      scalar: (scalar, part) => (scalar === ScalarType.STRING && isPlain(part) ? String(part) : part),
    });
  }
  return made;
}

/** Converts an object of fields to the special JSON form of a message: `{ seconds: 5 }` is a time. */
function specialOf({ typeName }: DescMessage, json: unknown): unknown {
  if (!isRecord(json) || Object.hasOwn(json, '@type')) return json;
  const { seconds = 0, nanos = 0, paths, value } = json;
  const name = typeName.slice('google.protobuf.'.length);
  if (name === 'Timestamp') return timeOf(Number(seconds), Number(nanos));
  if (name === 'Duration') return durationOf(Number(seconds), Number(nanos));
  if (name === 'FieldMask' && Array.isArray(paths)) return paths.map((path) => camelCase(String(path))).join(',');
  return name.length > 'Value'.length && name.endsWith('Value') && name !== 'ListValue' ? value : json;
}

function timeOf(seconds: number, nanos: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', `.${String(nanos).padStart(9, '0')}Z`);
}

function durationOf(seconds: number, nanos: number): string {
  const sign = seconds < 0 || nanos < 0 ? '-' : '';
  return `${sign}${Math.abs(seconds)}.${String(Math.abs(nanos)).padStart(9, '0')}s`;
}

function camelCase(path: string): string {
  return path.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function withNames(type: DescMessage, json: unknown): unknown {
  if (!isRecord(json) || hasCustomJsonRepresentation(type)) return json;
  const made: Record<string, unknown> = {};
  for (const field of type.fields) {
    const value = convert(field, json[field.jsonName] ?? null, { message: withNames, scalar: (_, part) => part });
    made[field.name] = value;
    made[field.jsonName] = value;
  }
  return made;
}

interface Changes {
  message(type: DescMessage, part: unknown): unknown;
  scalar(type: ScalarType | undefined, part: unknown): unknown;
}

/** Changes the values of a field: a single one, a list or a map. */
function convert(field: DescField, value: unknown, { message, scalar }: Changes): unknown {
  const { message: inner } = field;
  if (value === null && !inner) return value;
  const change = (part: unknown): unknown => (inner ? message(inner, part) : scalar(field.scalar, part));
  if (field.fieldKind === 'list') return Array.isArray(value) ? value.map(change) : value;
  if (field.fieldKind !== 'map') return change(value);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, change(part)]));
}

/** Returns true for values with an unambiguous text form. */
function isPlain(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}
