import { finite } from './arguments.ts';
import type { Run } from './run.ts';
import { RenderError } from './template-error.ts';
import { isList, isMap, type Value } from './value.ts';
import { compare, remainder } from './value-functions.ts';

type Operation = (a: Value, b: Value, run: Run) => Value;

/** The operators, except `and` and `or`, which do not always evaluate their right side. */
export const OPERATIONS = {
  in: (a, b, run) => isIn(a, b, run),
  '==': (a, b, run) => run.equal(a, b),
  '!=': (a, b, run) => !run.equal(a, b),
  '<': (a, b, run) => compare(a, b, run) < 0,
  '<=': (a, b, run) => compare(a, b, run) <= 0,
  '>': (a, b, run) => compare(a, b, run) > 0,
  '>=': (a, b, run) => compare(a, b, run) >= 0,
  '+': (a, b, run) => (typeof a === 'string' && typeof b === 'string' ? run.text(a + b) : sum(a, b)),
  '-': (a, b) => finite(number(a) - number(b)),
  '*': (a, b) => finite(number(a) * number(b)),
  '/': (a, b) => divide(number(a), number(b)),
  '%': (a, b) => remainder(whole(a), whole(b)),
  '^': (a, b) => finite(number(a) ** number(b)),
} satisfies Readonly<Record<string, Operation>>;

function isIn(value: Value, container: Value, run: Run): boolean {
  if (isList(container)) return container.some((item) => run.equal(value, item));
  if (isMap(container)) return Object.values(container).some((item) => run.equal(value, item));
  throw new RenderError('only a list can contain a value');
}

function sum(a: Value, b: Value): number {
  return finite(number(a) + number(b));
}

function divide(a: number, b: number): number {
  if (b === 0) throw new RenderError('division by zero');
  return finite(a / b);
}

function number(value: Value): number {
  if (typeof value !== 'number') throw new RenderError('arithmetic requires numbers');
  return value;
}

function whole(value: Value): number {
  const found = number(value);
  if (!Number.isSafeInteger(found)) throw new RenderError('% requires integers');
  return found;
}
