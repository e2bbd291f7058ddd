/** One part in three versions: from the existing resources alone, from the planned ones, and as served. */
export interface Sides<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
  readonly served: T | undefined;
}

/** Merges the sides of one part; `undefined` leaves it out. */
export type Merge<T> = (sides: Sides<T>) => T | undefined;

export function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Returns the served value if the plan does not change it, else the planned one. */
export function mergeValue<T>({ before, after, served }: Sides<T>): T | undefined {
  return isSameJson(before, after) ? served : after;
}

/** Merges two lists of parts with keys: the planned ones in order, then those that are only served. */
export function mergeLists<T>(sides: Sides<readonly T[]>, keyOf: (part: T) => string, merge: Merge<T>): T[] {
  const [before, after, served] = [sides.before, sides.after, sides.served].map((parts) => byKey(parts ?? [], keyOf));
  const keys = new Set([...after!.keys(), ...served!.keys()]);
  return [...keys].flatMap(
    (key) => merge({ before: before!.get(key), after: after!.get(key), served: served!.get(key) }) ?? [],
  );
}

/** Merges the fields of a part that all sides have. `own` merges some of them in another way. */
export function mergeFields<T extends object>(
  { before, after, served }: { readonly [side in keyof Sides<T>]: T },
  own: Partial<T> = {},
): T {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(served)])] as (keyof T)[];
  const merged = fields.map((field) => [
    field,
    mergeValue({ before: before[field], after: after[field], served: served[field] }),
  ]);
  return { ...(Object.fromEntries(merged) as T), ...own };
}

/** Returns the parts by key; equal keys are numbered by their order. */
function byKey<T>(parts: readonly T[], keyOf: (part: T) => string): ReadonlyMap<string, T> {
  const counts = new Map<string, number>();
  return new Map(
    parts.map((part) => {
      const key = keyOf(part);
      const count = counts.get(key) ?? 0;
      counts.set(key, count + 1);
      return [`${key} ${count}`, part];
    }),
  );
}
