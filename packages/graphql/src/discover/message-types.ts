import protobuf from 'protobufjs';
import type { TakeFields } from './bounds.ts';
import type { Skipped } from './discovered-api.ts';
import { isGraphQLName, toTypeName, uniqueNames } from './names.ts';
import type { FieldText, SchemaText } from './schema-text.ts';

const RESERVED = ['String', 'Int', 'Float', 'Boolean', 'ID', 'JSON', 'Query', 'Mutation', 'Subscription'];

/** ProtoJSON represents 64-bit integers as strings. */
const SCALARS: Readonly<Record<string, string>> = {
  double: 'Float',
  float: 'Float',
  int32: 'Int',
  sint32: 'Int',
  sfixed32: 'Int',
  uint32: 'Float',
  fixed32: 'Float',
  int64: 'String',
  sint64: 'String',
  sfixed64: 'String',
  uint64: 'String',
  fixed64: 'String',
  bool: 'Boolean',
  string: 'String',
  bytes: 'String',
};

/** Messages whose JSON is not an object of their fields. */
const WELL_KNOWN = /^\.google\.protobuf\.(Any|Struct|Value|ListValue|Timestamp|Duration|FieldMask|\w+Value|Empty)$/;

/** Creates GraphQL types of messages, each message once per side. */
export interface MessageTypes {
  typeOf(message: protobuf.Type, side: 'output' | 'input'): string;
  readonly usesJson: boolean;
}

export interface MessageTypesOptions {
  readonly skipped: Skipped[];
  readonly takeFields: TakeFields;
}

/** Creates a converter that adds types to the schema. Fields are named as in ProtoJSON: `full_name` is `fullName`. */
export function createMessageTypes(text: SchemaText, { skipped, takeFields }: MessageTypesOptions): MessageTypes {
  const names = { output: new Map<protobuf.Type, string>(), input: new Map<protobuf.Type, string>() };
  const enums = new Map<protobuf.Enum, string>();
  const unique = uniqueNames(RESERVED);
  let usesJson = false;

  const json = (): string => {
    usesJson = true;
    return 'JSON';
  };

  function typeOf(message: protobuf.Type, side: 'output' | 'input'): string {
    const known = names[side].get(message);
    if (known !== undefined) return known;
    if (WELL_KNOWN.test(message.fullName)) return json();
    const usable = message.fieldsArray.filter((field) => isUsable(field));
    if (usable.length === 0 || !takeFields(usable.length, message.fullName)) return json();
    const name = unique(`${toTypeName(message.name) || 'Message'}${side === 'input' ? 'Input' : ''}`);
    names[side].set(message, name);
    const fields = usable.map((field): FieldText => ({ name: jsonName(field), type: fieldType(field, side) }));
    text.type(side === 'input' ? 'input' : 'type', name, fields);
    return name;
  }

  function isUsable(field: protobuf.Field): boolean {
    if (isGraphQLName(jsonName(field))) return true;
    skipped.push({ where: field.fullName, reason: `'${field.name}' is no name in GraphQL` });
    return false;
  }

  function fieldType(field: protobuf.Field, side: 'output' | 'input'): string {
    if (field instanceof protobuf.MapField) return json();
    const { resolvedType } = field.resolve();
    const type =
      resolvedType instanceof protobuf.Type
        ? typeOf(resolvedType, side)
        : resolvedType instanceof protobuf.Enum
          ? enumOf(resolvedType)
          : (SCALARS[field.type] ?? json());
    return field.repeated ? `[${type}]` : type;
  }

  function enumOf(value: protobuf.Enum): string {
    const known = enums.get(value);
    if (known !== undefined) return known;
    const usable = Object.keys(value.values).filter((each) => isGraphQLName(each) && !/^(true|false|null)$/.test(each));
    if (usable.length === 0 || !takeFields(usable.length, value.fullName)) return 'String';
    const name = unique(toTypeName(value.name) || 'Enum');
    enums.set(value, name);
    text.enumeration(name, usable);
    return name;
  }

  return {
    typeOf,
    get usesJson() {
      return usesJson;
    },
  };
}

/** Returns the name of a field in JSON. */
function jsonName(field: protobuf.Field): string {
  const written = field.options?.['json_name'] as string | undefined;
  return written ?? field.name.replace(/_+([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
