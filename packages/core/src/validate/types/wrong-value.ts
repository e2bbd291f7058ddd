import { suggest } from '../../syntax/did-you-mean.ts';
import type { WrittenProblem } from '../document-report.ts';
import type { ScalarNode } from './node.ts';

type ValueProblem = Omit<WrittenProblem, 'path'>;

const DURATION_HINT = 'a duration, for example 5s';
const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'text',
  'string,boolean': 'text, or true or false',
};

/** Returns the problem of a value of another type than `wanted`. */
export function typeProblem(wanted: string, value: unknown, format?: ScalarNode['format']): ValueProblem {
  const hint = format === 'duration' ? DURATION_HINT : value === null ? 'leave it out, or give it a value' : undefined;
  return { code: 'WRONG_TYPE', message: `must be ${TYPE_NAMES[wanted]}, is ${typeName(value)}`, hint, on: 'value' };
}

/** Returns the problem of a number outside its bounds; `undefined` if it is inside. */
export function boundProblem({ minimum, maximum }: ScalarNode, value: number): ValueProblem | undefined {
  const isLess = minimum !== undefined && value < minimum;
  if (!isLess && (maximum === undefined || value <= maximum)) return undefined;
  const bounds = [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
  ];
  const message = `${value} is ${isLess ? 'less' : 'more'} than allowed`;
  return { code: 'OUT_OF_RANGE', message, hint: bounds.filter(Boolean).join(', '), on: 'value' };
}

/** Returns the problem of a value that is none of the names of an enum. */
export function enumProblem(value: unknown, names: readonly string[]): ValueProblem {
  // The zero of a protobuf enum: known, but no kind accepts it.
  const allowed = names.filter((name, number) => number > 0 || name !== 'UNKNOWN');
  const list = `one of ${allowed.join(', ')}`;
  if (typeof value !== 'string' && typeof value !== 'number') {
    return { code: 'WRONG_TYPE', message: `must be one of its names, is ${typeName(value)}`, hint: list, on: 'value' };
  }
  const near = typeof value === 'string' ? suggest(value, allowed) : undefined;
  const hint = near?.startsWith('did') ? `${near} ${list}` : list;
  return { code: 'BAD_ENUM', message: `${String(value).slice(0, 60)} is not allowed`, hint, on: 'value' };
}

/** Returns the type of a value, never the value: it may be a secret. */
function typeName(value: unknown): string {
  if (value === null) return 'empty';
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  if (typeof value === 'boolean') return 'true or false';
  return typeof value === 'object' ? 'an object' : 'text';
}
