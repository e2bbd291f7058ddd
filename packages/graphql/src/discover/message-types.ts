import { ScalarType, type DescEnum, type DescField, type DescMessage } from '@bufbuild/protobuf';
import type { ApiDraft, FieldText, Side } from './api-draft.ts';
import { isEnumValue, isGraphQLName } from './names.ts';

/** Others are strings: ProtoJSON represents 64-bit integers as strings. */
const SCALARS: Partial<Record<ScalarType, string>> = {
  [ScalarType.DOUBLE]: 'Float',
  [ScalarType.FLOAT]: 'Float',
  [ScalarType.INT32]: 'Int',
  [ScalarType.SINT32]: 'Int',
  [ScalarType.SFIXED32]: 'Int',
  [ScalarType.UINT32]: 'Float',
  [ScalarType.FIXED32]: 'Float',
  [ScalarType.BOOL]: 'Boolean',
};

/** Messages whose JSON is not an object of their fields. */
const WELL_KNOWN = /^google\.protobuf\.(Any|Struct|Value|ListValue|Timestamp|Duration|FieldMask|\w+Value|Empty)$/;

/** Creates a converter of messages to types of a draft, once per side. Fields are named as in ProtoJSON: `fullName`. */
export function createMessageTypes(draft: ApiDraft): (message: DescMessage, side: Side) => string {
  const names = { output: new Map<DescMessage, string>(), input: new Map<DescMessage, string>() };
  const enums = new Map<DescEnum, string>();

  function typeOf(message: DescMessage, side: Side): string {
    const known = names[side].get(message);
    if (known !== undefined) return known;
    if (WELL_KNOWN.test(message.typeName)) return draft.json();
    const usable = message.fields.filter(isUsable);
    if (usable.length === 0 || !draft.takeFields(usable.length, message.typeName)) return draft.json();
    const name = draft.typeName(message.name, side);
    names[side].set(message, name);
    const fields = usable.map((field): FieldText => ({ name: field.jsonName, type: fieldType(field, side) }));
    draft.type(side, name, fields);
    return name;
  }

  function isUsable(field: DescField): boolean {
    if (isGraphQLName(field.jsonName)) return true;
    const where = `${field.parent.typeName}.${field.name}`;
    draft.skipped.push({ where, reason: `'${field.name}' is not a valid GraphQL name` });
    return false;
  }

  function fieldType(field: DescField, side: Side): string {
    const { fieldKind, message, enum: values, scalar } = field;
    if (fieldKind === 'map') return draft.json();
    const type = message ? typeOf(message, side) : values ? enumOf(values) : (SCALARS[scalar!] ?? 'String');
    return fieldKind === 'list' ? `[${type}]` : type;
  }

  function enumOf(value: DescEnum): string {
    const known = enums.get(value);
    if (known !== undefined) return known;
    const usable = value.values.map(({ name }) => name).filter(isEnumValue);
    if (usable.length === 0 || !draft.takeFields(usable.length, value.typeName)) return 'String';
    const name = draft.typeName(value.name, 'output');
    enums.set(value, name);
    draft.enumeration(name, usable);
    return name;
  }

  return typeOf;
}
