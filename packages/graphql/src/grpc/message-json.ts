import protobuf from 'protobufjs';
import { checkScalar } from './check-scalar.ts';
import { wellKnown } from './well-known.ts';

/** Nested messages of one message, at most so deep. */
const MAX_DEPTH = 64;

const TO_OBJECT: protobuf.IConversionOptions = {
  longs: String,
  enums: String,
  bytes: String,
  defaults: true,
  arrays: true,
  objects: true,
};

/** Makes a message of JSON. Fields are named as in the definition, or in camel case. Throws for what does not fit. */
export function messageOf(type: protobuf.Type, json: unknown): protobuf.Message {
  return type.fromObject(toFields(type, json, 0) as Record<string, unknown>);
}

/** Makes JSON of a message: each field under its name in camel case and, where that is another, as in the definition. */
export function jsonOf(type: protobuf.Type, bytes: Uint8Array): unknown {
  return toNames(type, type.toObject(type.decode(new protobuf.Reader(bytes)), TO_OBJECT));
}

function toFields(type: protobuf.Type, given: unknown, depth: number): unknown {
  const json = wellKnown(type.fullName)?.fromJson(given) ?? given;
  if (json === null || json === undefined) return {};
  if (!isRecord(json)) throw new Error(`${type.name} has to be an object`);
  if (depth > MAX_DEPTH) throw new Error('the message is nested too deep');
  const made: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    const name = [jsonName(field), field.name].find((each) => Object.hasOwn(json, each));
    const value = name === undefined ? undefined : json[name];
    if (value === null || value === undefined) continue;
    made[field.name] = convert(field, value, {
      message: (inner, part) => toFields(inner, part, depth + 1),
      other: (part) => {
        checkScalar(field, part);
        return part;
      },
    });
  }
  return made;
}

function toNames(type: protobuf.Type, json: unknown): unknown {
  if (!isRecord(json)) return json;
  const made: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    const value = convert(field, json[field.name] ?? null, { message: toNames, other: (part) => part });
    made[field.name] = value;
    made[jsonName(field)] = value;
  }
  const known = wellKnown(type.fullName);
  return known ? known.toJson(made) : made;
}

/** How the values of a field are changed. */
interface Changes {
  message(type: protobuf.Type, part: unknown): unknown;
  other(part: unknown): unknown;
}

/** Changes the value of a field, whether it is one, a list or a map of them. */
function convert(field: protobuf.Field, value: unknown, { message, other }: Changes): unknown {
  const { resolvedType } = field.resolve();
  if (value === null) return value;
  const change = resolvedType instanceof protobuf.Type ? (part: unknown) => message(resolvedType, part) : other;
  if (field.repeated && Array.isArray(value)) return value.map(change);
  if (!field.map || !isRecord(value)) return change(value);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, change(part)]));
}

function jsonName(field: protobuf.Field): string {
  const written = field.options?.['json_name'] as string | undefined;
  return written ?? field.name.replaceAll(/_+([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
