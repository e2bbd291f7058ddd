import { suggest } from '../../syntax/did-you-mean.ts';
import type { WrittenProblem } from '../document-report.ts';
import { fits, type Node, type ScalarNode } from './node.ts';
import type { ValueProblem as ProblemOf } from '../../schema/field.ts';

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
  return { code: 'WRONG_TYPE', message: `must be ${TYPE_NAMES[wanted]}, got ${typeName(value)}`, hint, on: 'value' };
}

/** Returns the problem of a number outside its bounds; `undefined` if it is inside. */
export function boundProblem({ minimum, maximum }: ScalarNode, value: number): ValueProblem | undefined {
  const isLess = minimum !== undefined && value < minimum;
  if (!isLess && (maximum === undefined || value <= maximum)) return undefined;
  const bounds = [
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
  ];
  const message = `must be ${bounds.filter(Boolean).join(' and ')}, got ${value}`;
  return { code: 'OUT_OF_RANGE', message, on: 'value' };
}

/** Returns the problem of a value that is none of the names of an enum. */
export function enumProblem(value: unknown, names: readonly string[]): ValueProblem {
  // The zero of a protobuf enum: known, but no kind accepts it.
  const allowed = names.filter((name, number) => number > 0 || name !== 'UNKNOWN');
  const list = `one of ${allowed.join(', ')}`;
  if (typeof value !== 'string' && typeof value !== 'number') {
    return { code: 'WRONG_TYPE', message: `must be ${list} (got ${typeName(value)})`, on: 'value' };
  }
  const near = typeof value === 'string' ? suggest(value, allowed) : undefined;
  const hint = near?.startsWith('did') ? `${near} ${list}` : list;
  return { code: 'BAD_ENUM', message: `${String(value).slice(0, 60)} is not allowed`, hint, on: 'value' };
}

/** Returns the problem of a value whose type none of several schemas has; `undefined` if one does. */
export function eitherProblem(nodes: readonly Node[], value: unknown): ValueProblem | undefined {
  if (nodes.some((node) => fits(node, value))) return undefined;
  const message = `must be ${nodes.map(wantedBy).join(', or ')}, got ${typeName(value)}`;
  return { code: 'WRONG_TYPE', message, on: 'value' };
}

/** Returns the problem of a value of a program. */
export function valueProblem(problemOf: ProblemOf, value: unknown): ValueProblem | undefined {
  const problem = problemOf(value);
  return problem === undefined
    ? undefined
    : { code: 'WRONG_TYPE', message: `${problem}, got ${typeName(value)}`, on: 'value' };
}

function wantedBy(node: Node): string | undefined {
  if (node.type === 'scalar') return TYPE_NAMES[node.types.join()];
  if (node.type === 'enum') return node.names.join(', ');
  return TYPE_NAMES[node.type === 'list' ? 'array' : 'object'];
}

/** Returns the type of a value, never the value: it may be a secret. */
function typeName(value: unknown): string {
  if (value === null) return 'empty';
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  if (typeof value === 'boolean') return 'a boolean';
  if (typeof value === 'string') return 'text';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
