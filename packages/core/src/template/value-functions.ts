import { finite, integerAt, listAt, numberAt, textAt, type TemplateFunction } from './arguments.ts';
import type { Run } from './run.ts';
import { RenderError } from './template-error.ts';
import { isList, isMap, memberOf, type Value } from './value.ts';

type Functions = Readonly<Record<string, TemplateFunction>>;

const test = (is: (value: Value) => boolean): TemplateFunction => ({ args: [1, 1], call: ([value]) => is(value!) });

/** Functions that check the type of a value. */
const TYPE_TESTS: Functions = {
  isArray: test(isList),
  isBoolean: test((value) => typeof value === 'boolean'),
  isFloat: test((value) => typeof value === 'number' && !Number.isInteger(value)),
  isInteger: test((value) => Number.isInteger(value)),
  isNumber: test((value) => typeof value === 'number'),
  isObject: test(isMap),
  isString: test((value) => typeof value === 'string'),
};

/** Arithmetic functions. */
const NUMBERS: Functions = {
  divisibleBy: { args: [2, 2], call: (args) => remainder(integerAt(args, 0), integerAt(args, 1)) === 0 },
  even: { args: [1, 1], call: (args) => integerAt(args, 0) % 2 === 0 },
  float: { args: [1, 1], call: ([value]) => toNumber(value!, /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/) },
  int: { args: [1, 1], call: ([value]) => Math.trunc(toNumber(value!, /^\s*[+-]?\d+/)) },
  odd: { args: [1, 1], call: (args) => integerAt(args, 0) % 2 !== 0 },
  round: { args: [2, 2], call: (args) => round(numberAt(args, 0), integerAt(args, 1)) },
};

/** Functions on lists and objects. */
const LISTS: Functions = {
  at: { args: [2, 2], call: ([from, key]) => at(from!, key!) },
  existsIn: { args: [2, 2], call: (args) => isMap(args[0]!) && Object.hasOwn(args[0], textAt(args, 1)) },
  first: { args: [1, 1], call: (args) => existing(listAt(args, 0)[0]) },
  join: { args: [2, 2], call: (args, run) => join(listAt(args, 0), textAt(args, 1), run) },
  last: { args: [1, 1], call: (args) => existing(listAt(args, 0).at(-1)) },
  length: { args: [1, 1], call: ([value]) => lengthOf(value!) },
  max: { args: [1, 1], call: (args, run) => existing(sorted(listAt(args, 0), run).at(-1)) },
  min: { args: [1, 1], call: (args, run) => existing(sorted(listAt(args, 0), run)[0]) },
  range: { args: [1, 1], call: (args, run) => range(integerAt(args, 0), run) },
  sort: { args: [1, 1], call: (args, run) => sorted(listAt(args, 0), run) },
};

/** Functions on values of every type. */
export const VALUE_FUNCTIONS: Functions = { ...TYPE_TESTS, ...NUMBERS, ...LISTS };

/** Returns the remainder of an integer division. */
export function remainder(a: number, b: number): number {
  if (b === 0) throw new RenderError('division by zero');
  return a % b;
}

/** Returns less than 0 if `a` comes first; only numbers and strings can be compared. */
export function compare(a: Value, b: Value, run: Run): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'string' || typeof b !== 'string') throw new RenderError('only numbers or strings can be compared');
  run.text(a);
  return a < b ? -1 : a === b ? 0 : 1;
}

function toNumber(value: Value, written: RegExp): number {
  if (typeof value === 'number') return value;
  const found = typeof value === 'string' ? written.exec(value)?.[0] : undefined;
  if (found === undefined) throw new RenderError('the value is not a number');
  return finite(Number(found));
}

function round(value: number, digits: number): number {
  if (Math.abs(digits) > 15) throw new RenderError('round takes at most 15 digits');
  const scale = 10 ** digits;
  return finite((Math.sign(value) * Math.round(Math.abs(value) * scale)) / scale);
}

function at(from: Value, key: Value): Value {
  if (isList(from) && typeof key === 'number') return existing(from[key]);
  if (isMap(from) && typeof key === 'string') return existing(memberOf(from, [key]));
  throw new RenderError('at takes a list and an index, or an object and a key');
}

function existing(value: Value | undefined): Value {
  if (value === undefined) throw new RenderError('the element does not exist');
  return value;
}

function lengthOf(value: Value): number {
  if (typeof value === 'string' || isList(value)) return value.length;
  if (isMap(value)) return Object.keys(value).length;
  throw new RenderError('only strings, lists and objects have a length');
}

function join(list: readonly Value[], separator: string, run: Run): string {
  let joined = '';
  for (const [i, value] of list.entries()) joined = run.text(joined + (i > 0 ? separator : '') + run.print(value));
  return joined;
}

function range(count: number, run: Run): readonly Value[] {
  run.spend(Math.max(0, count));
  return Array.from({ length: Math.max(0, count) }, (_, i) => i);
}

function sorted(list: readonly Value[], run: Run): readonly Value[] {
  return [...list].sort((a, b) => {
    run.spend(1);
    return compare(a, b, run);
  });
}
