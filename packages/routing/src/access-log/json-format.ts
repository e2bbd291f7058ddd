import { compileFormat, fill } from '../format/format.ts';
import type { FormatContext } from '../format/operators.ts';
import type { RequestRecord } from '../format/record.ts';

type JsonValue = (record: RequestRecord) => unknown;

/**
 * Compiles a `jsonFormat`: keys are sorted; a value that is a single operator keeps its type, `null` if it is missing;
 * mixed text is a string with `-` for missing values. Throws `ERR_ROUTING_OPTION` for an unknown operator.
 */
export function compileJsonFormat(
  format: Readonly<Record<string, unknown>>,
  env?: FormatContext['env'],
): (record: RequestRecord) => string {
  const value = compileValue(format, env);
  return (record) => `${JSON.stringify(value(record))}\n`;
}

function compileValue(written: unknown, env: FormatContext['env']): JsonValue {
  if (typeof written === 'string') return compileText(written, env);
  if (Array.isArray(written)) {
    const items = written.map((item) => compileValue(item, env));
    return (record) => items.map((item) => item(record));
  }
  if (typeof written !== 'object' || written === null) return () => written;
  const fields = Object.entries(written)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [key, compileValue(value, env)] as const);
  return (record) => Object.fromEntries(fields.map(([key, value]) => [key, value(record)]));
}

function compileText(written: string, env: FormatContext['env']): JsonValue {
  const format = compileFormat(written, 'log', env);
  const [only] = format.parts;
  if (format.parts.length === 1 && typeof only === 'function') return (record) => only(record) ?? null;
  return (record) => fill(format, record, '-');
}
