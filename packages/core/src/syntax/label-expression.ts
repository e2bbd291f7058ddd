import type { LabelExpression } from '../schema/route/matcher.ts';

/** The labels of a resource: values by key. */
export type Labels = Readonly<Record<string, string>>;

/** Returns why an expression cannot be evaluated, or `undefined` if it can. */
export function expressionProblem({ key, operator = 'Equals', values = [] }: LabelExpression): string | undefined {
  const problemOf = (what: string) => `the expression on label '${key ?? ''}' with ${operator} ${what}`;
  if (!key) return problemOf('names no key');
  const [min, max] = VALUE_COUNTS[operator];
  if (values.length < min || values.length > max) {
    return problemOf(max === 0 ? 'takes no value' : max === 1 ? 'takes exactly one value' : 'needs a value');
  }
  if (COMPARES_NUMBERS.has(operator) && !isInteger(values[0]!)) return problemOf('takes an integer');
  return undefined;
}

/** Returns true if the labels satisfy the expression, which must be valid: see {@link expressionProblem}. */
export function satisfies(labels: Labels, { key = '', operator = 'Equals', values = [] }: LabelExpression): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'Equals':
    case 'DoubleEquals':
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotEquals':
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'GreaterThan':
      return value !== undefined && isInteger(value) && Number(value) > Number(values[0]);
    case 'LessThan':
      return value !== undefined && isInteger(value) && Number(value) < Number(values[0]);
  }
}

/** Returns true if every required label is present with its value. */
export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);
}

/** A selector of labels, as Kubernetes has it. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelExpression[];
}

/** Returns true if the labels satisfy all parts of a selector; an empty one matches all labels. */
export function matchesSelector(labels: Labels, { matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return hasLabels(labels, matchLabels) && matchExpressions.every((expression) => satisfies(labels, expression));
}

const MANY = Number.POSITIVE_INFINITY;
const VALUE_COUNTS: Record<NonNullable<LabelExpression['operator']>, readonly [number, number]> = {
  Equals: [1, 1],
  DoubleEquals: [1, 1],
  NotEquals: [1, 1],
  In: [1, MANY],
  NotIn: [1, MANY],
  Exists: [0, 0],
  DoesNotExist: [0, 0],
  GreaterThan: [1, 1],
  LessThan: [1, 1],
};
const COMPARES_NUMBERS = new Set<string>(['GreaterThan', 'LessThan']);

function isInteger(text: string): boolean {
  return /^-?\d{1,15}$/.test(text);
}
