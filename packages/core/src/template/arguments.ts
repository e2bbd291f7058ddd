import type { Run } from './run.ts';
import { RenderError } from './template-error.ts';
import { isList, type Value } from './value.ts';

/** A function of the template language. */
export interface TemplateFunction {
  /** Minimum and maximum number of arguments. */
  readonly args: readonly [least: number, most: number];
  call(args: readonly Value[], run: Run): Value;
}

/** Returns the string argument at this index; throws for any other type. */
export function textAt(args: readonly Value[], i: number): string {
  const value = args[i];
  if (typeof value !== 'string') throw wrong(args, i, 'a text');
  return value;
}

/** Returns the string argument at this index, or `undefined` if it is missing. */
export function optionalTextAt(args: readonly Value[], i: number): string | undefined {
  return args[i] === undefined ? undefined : textAt(args, i);
}

/** Returns the number argument at this index; throws for any other type. */
export function numberAt(args: readonly Value[], i: number): number {
  const value = args[i];
  if (typeof value !== 'number') throw wrong(args, i, 'a number');
  return value;
}

/** Returns the integer argument at this index; throws for any other type. */
export function integerAt(args: readonly Value[], i: number): number {
  const value = args[i];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(args, i, 'an integer');
  return value;
}

/** Returns the list argument at this index; throws for any other type. */
export function listAt(args: readonly Value[], i: number): readonly Value[] {
  const value = args[i];
  if (value === undefined || !isList(value)) throw wrong(args, i, 'a list');
  return value;
}

/** Returns a number that JSON can represent. */
export function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RenderError('the result is not a number');
  return value;
}

function wrong(args: readonly Value[], i: number, wanted: string): RenderError {
  const value = args[i];
  const is = value === null ? 'null' : Array.isArray(value) ? 'a list' : `of type ${typeof value}`;
  return new RenderError(`${wanted} is required, not ${is}`);
}
