import protobuf from 'protobufjs';

/** Bits of integers, and whether they have a sign. */
const INTEGERS: Readonly<Record<string, readonly [bits: number, signed: boolean]>> = {
  int32: [32, true],
  sint32: [32, true],
  sfixed32: [32, true],
  uint32: [32, false],
  fixed32: [32, false],
  int64: [64, true],
  sint64: [64, true],
  sfixed64: [64, true],
  uint64: [64, false],
  fixed64: [64, false],
};
const WHOLE = /^-?\d{1,20}$/;
const FLOAT = /^(-?\d+(\.\d+)?([eE][+-]?\d+)?|NaN|-?Infinity)$/;

/**
 * Throws an `Error` for a value that does not fit a field that is no message: encoding would make another of it, as 0 of a word, and
 * send that. Numbers may be text, as in the JSON of protocol buffers.
 */
export function checkScalar(field: protobuf.Field, value: unknown): void {
  if (field.resolvedType instanceof protobuf.Enum) {
    const isKnown = typeof value === 'string' && Object.hasOwn(field.resolvedType.values, value);
    if (!isKnown && !(typeof value === 'number' && isWithin(value, INTEGERS['int32']!))) throw misfit(field);
    return;
  }
  const integer = INTEGERS[field.type];
  if (integer) {
    if (!isWithin(value, integer)) throw misfit(field);
  } else if (field.type === 'double' || field.type === 'float') {
    if (typeof value !== 'number' && !(typeof value === 'string' && FLOAT.test(value))) throw misfit(field);
  } else if (field.type === 'bool') {
    if (typeof value !== 'boolean') throw misfit(field);
  } else if (typeof value === 'object') throw misfit(field);
}

function isWithin(value: unknown, [bits, signed]: readonly [number, boolean]): boolean {
  const isWhole = typeof value === 'number' ? Number.isInteger(value) : typeof value === 'string' && WHOLE.test(value);
  if (!isWhole) return false;
  const whole = BigInt(value as number | string);
  return (signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole)) === whole;
}

function misfit({ name, type }: protobuf.Field): Error {
  return new Error(`${name} has a value that is not of type ${type}`);
}
