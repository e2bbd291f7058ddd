import type { Run } from './run.ts';
import { RenderError } from './template-error.ts';
import { isList, type Value } from './value.ts';

/** A function of the template language. */
export interface TemplateFunction {
  /** Minimum and maximum number of arguments. */
  readonly args: readonly [least: number, most: number];
  call(args: readonly Value[], run: Run): Value;
}

/** Returns the function that reads an argument of one type; it throws for any other. */
const reader =
  <T extends Value>(isType: (value: Value) => value is T, wanted: string) =>
  (args: readonly Value[], i: number): T => {
    const value = args[i];
    if (value !== undefined && isType(value)) return value;
    const is = value === null ? 'null' : Array.isArray(value) ? 'a list' : `of type ${typeof value}`;
    throw new RenderError(`${wanted} is required, not ${is}`);
  };

export const textAt = reader((value): value is string => typeof value === 'string', 'a text');
export const numberAt = reader((value): value is number => typeof value === 'number', 'a number');
export const integerAt = reader((value): value is number => Number.isSafeInteger(value), 'an integer');
export const listAt = reader(isList, 'a list');

/** Returns the string argument at this index, or `undefined` if it is missing. */
export function optionalTextAt(args: readonly Value[], i: number): string | undefined {
  return args[i] === undefined ? undefined : textAt(args, i);
}

/** Returns a number that JSON can represent. */
export function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RenderError('the result is not a number');
  return value;
}
