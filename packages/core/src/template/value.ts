import { toByteString } from '../http/byte-string.ts';
import { ExactNumber } from '../syntax/exact-number.ts';

/** A value of templates. Strings are byte strings: every character is one byte, as in header values. */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };

/** Returns true for an object that is not a list. */
export function isMap(value: Value): value is { readonly [key: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns true for a list. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Returns a JSON value whose strings are byte strings. A number that JavaScript cannot represent becomes its text. */
export function toValue(json: unknown): Value {
  if (json instanceof ExactNumber) return json.text;
  if (typeof json === 'string') return toByteString(json);
  if (typeof json === 'number' || typeof json === 'boolean') return json;
  if (Array.isArray(json)) return json.map(toValue);
  if (typeof json !== 'object' || json === null) return null;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [toByteString(key), toValue(value)]));
}

/** Returns false for false, null, 0 and empty values. */
export function isTruthy(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  return isList(value) ? value.length > 0 : Object.keys(value).length > 0;
}

/** Returns an own member by its path; `undefined` if there is none. */
export function memberOf(value: Value, path: readonly string[]): Value | undefined {
  let found: Value | undefined = value;
  for (const step of path) {
    if (found === undefined || typeof found !== 'object' || found === null) return undefined;
    if (isList(found)) found = /^\d{1,9}$/.test(step) ? found[Number(step)] : undefined;
    else found = Object.hasOwn(found, step) ? found[step] : undefined;
  }
  return found;
}
