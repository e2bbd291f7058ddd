import type { Run } from './run.ts';
import { RenderError } from './template-error.ts';
import { isList, type Value } from './value.ts';

/** A function of the template language. */
export interface TemplateFunction {
  /** Least and most arguments. */
  readonly args: readonly [least: number, most: number];
  call(args: readonly Value[], run: Run): Value;
}

/** The text at this place; anything else fails the rendering. */
export function textAt(args: readonly Value[], i: number): string {
  const value = args[i];
  if (typeof value !== 'string') throw wrong(args, i, 'a text');
  return value;
}

/** The text at this place, or `undefined` where nothing is given. */
export function optionalTextAt(args: readonly Value[], i: number): string | undefined {
  return args[i] === undefined ? undefined : textAt(args, i);
}

/** The number at this place; anything else fails the rendering. */
export function numberAt(args: readonly Value[], i: number): number {
  const value = args[i];
  if (typeof value !== 'number') throw wrong(args, i, 'a number');
  return value;
}

/** The whole number at this place; anything else fails the rendering. */
export function integerAt(args: readonly Value[], i: number): number {
  const value = args[i];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(args, i, 'a whole number');
  return value;
}

/** The list at this place; anything else fails the rendering. */
export function listAt(args: readonly Value[], i: number): readonly Value[] {
  const value = args[i];
  if (value === undefined || !isList(value)) throw wrong(args, i, 'a list');
  return value;
}

/** A number that JSON can hold. */
export function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RenderError('the result is not a number');
  return value;
}

function wrong(args: readonly Value[], i: number, wanted: string): RenderError {
  const value = args[i];
  const is = value === null ? 'null' : Array.isArray(value) ? 'a list' : `of type ${typeof value}`;
  return new RenderError(`${wanted} is needed, here it is ${is}`);
}
