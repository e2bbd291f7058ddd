export type Json = Readonly<Record<string, unknown>>;

/** A value and its pointer, e.g. `#/components/schemas/Pet`. */
export interface Placed {
  readonly value: Json;
  readonly pointer: string;
}

/** The methods of operations that are discovered. */
export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Returns the objects of a list; none for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
