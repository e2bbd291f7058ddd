import { ExactNumber } from '../syntax/exact-number.ts';

/** JSON values as `google.protobuf.Struct` has them, and back. */
type Kind = 'nullValue' | 'numberValue' | 'stringValue' | 'boolValue' | 'structValue' | 'listValue';
/** An object as `google.protobuf.Struct` represents it. */
export interface ProtoStruct {
  readonly fields?: Readonly<Record<string, ProtoValue>>;
}
interface ProtoValue {
  readonly kind?: Kind;
  readonly nullValue?: number;
  readonly numberValue?: number;
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly structValue?: ProtoStruct;
  readonly listValue?: { readonly values?: readonly ProtoValue[] };
}

/**
 * Returns an object of JSON values as a `google.protobuf.Struct`. Fields that are undefined are left out. A number that a double cannot
 * represent becomes a string with all of its digits.
 */
export function toStruct(value: object): ProtoStruct {
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return { fields: Object.fromEntries(entries.map(([key, part]) => [key, toValue(part)])) };
}

function toValue(value: unknown): ProtoValue {
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (value instanceof ExactNumber) return { stringValue: value.text };
  if (Array.isArray(value)) return { listValue: { values: value.map(toValue) } };
  return typeof value === 'object' && value !== null ? { structValue: toStruct(value) } : { nullValue: 0 };
}

/** Returns the object of a `google.protobuf.Struct`. */
export function fromStruct({ fields = {} }: ProtoStruct): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, fromValue(value)]));
}

function fromValue(value: ProtoValue): unknown {
  switch (value.kind) {
    case 'numberValue':
    case 'stringValue':
    case 'boolValue':
      return value[value.kind];
    case 'structValue':
      return fromStruct(value.structValue ?? {});
    case 'listValue':
      return (value.listValue?.values ?? []).map(fromValue);
    default:
      return null;
  }
}
