import type { FormatContext } from '../../format/operators.ts';
import type { RequestRecord } from '../../format/record.ts';
import { compileFormat, fill } from '../../format/format.ts';

type Variables = FormatContext['env'];

/** A value of an entry: text, number, list or object. */
export type OtlpValue = string | number | boolean | OtlpValue[] | { [key: string]: OtlpValue };

/** Returns a value for a request. */
export type ValueReader = (record: RequestRecord) => OtlpValue;

interface WrittenValue {
  readonly stringValue?: unknown;
  readonly boolValue?: unknown;
  readonly intValue?: unknown;
  readonly doubleValue?: unknown;
  readonly arrayValue?: { readonly values?: unknown };
  readonly kvlistValue?: { readonly values?: unknown };
}

/**
 * Compiles a value of the configuration: text with command operators, or an `AnyValue` of OpenTelemetry in its JSON form.
 * Throws `ERR_ROUTING_OPTION` for an unknown operator.
 */
export function compileValue(written: unknown, env: Variables): ValueReader {
  if (typeof written === 'string') return compileText(written, env);
  if (typeof written === 'number' || typeof written === 'boolean') return () => written;
  if (typeof written !== 'object' || written === null) return () => '';
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = written as WrittenValue;
  if (typeof stringValue === 'string') return compileText(stringValue, env);
  if (boolValue !== undefined) return () => boolValue === true;
  const number = intValue ?? doubleValue;
  if (number !== undefined) return () => Number(number);
  if (arrayValue) {
    const items = listOf(arrayValue.values).map((item) => compileValue(item, env));
    return (record) => items.map((item) => item(record));
  }
  return compileFields(kvlistValue ?? written, env);
}

/** Compiles attributes: an object by key, or a `KeyValueList` of OpenTelemetry. */
export function compileFields(
  written: unknown,
  env: Variables,
): (record: RequestRecord) => { [key: string]: OtlpValue } {
  const fields = fieldsOf(written).map(([key, value]) => [key, compileValue(value, env)] as const);
  return (record) => Object.fromEntries(fields.map(([key, value]) => [key, value(record)]));
}

function fieldsOf(written: unknown): readonly (readonly [key: string, value: unknown])[] {
  if (typeof written !== 'object' || written === null) return [];
  if (!('values' in written)) return Object.entries(written);
  return listOf(written.values).flatMap((each) => {
    const { key, value } = (each ?? {}) as { readonly key?: unknown; readonly value?: unknown };
    return typeof key === 'string' ? [[key, value] as const] : [];
  });
}

const listOf = (written: unknown): readonly unknown[] => (Array.isArray(written) ? written : []);

function compileText(text: string, env: Variables): ValueReader {
  const format = compileFormat(text, 'log', env);
  return (record) => fill(format, record, '-');
}
