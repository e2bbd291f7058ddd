import { isDeepStrictEqual } from 'node:util';
import type { ObjectNode } from './node.ts';

type Json = Record<string, unknown>;

/** A block after the keys beside `options` were moved into it. */
export interface Folded {
  readonly value: Json;
  /** The resulting `options`, with the original key of each moved field. */
  readonly options: Json;
  readonly from: ReadonlyMap<string, string>;
  /** Keys whose values differ from `options`. */
  readonly conflicts: readonly string[];
}

/** Moves the keys in `x-hoisted` into `options`, whose values take precedence; returns `undefined` if there is nothing to move. */
export function hoistIntoOptions(node: ObjectNode, value: Json): Folded | undefined {
  const written = Object.keys(value).filter((key) => !node.fields.has(key) && node.beside.includes(camelCase(key)));
  const inside = value['options'] ?? {};
  if (written.length === 0 || typeof inside !== 'object' || Array.isArray(inside)) return undefined;
  const rest = { ...value };
  const options: Json = { ...inside };
  const from = new Map<string, string>();
  const conflicts: string[] = [];
  for (const key of written) {
    const name = camelCase(key);
    delete rest[key];
    if (value[key] === null) continue;
    if (options[name] === undefined || options[name] === null) {
      options[name] = value[key];
      from.set(name, key);
    } else if (!isDeepStrictEqual(options[name], value[key])) conflicts.push(key);
  }
  return { value: { ...rest, options }, options, from, conflicts };
}

function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
