/** Returns true for promises, also those of other libraries. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** Nesting of promises in lists and objects. */
const MAX_DEPTH = 3;

/** Handles the rejections of a value that is no longer needed: a promise, or a list or object with promises. Calls no getters. */
export function ignoreRejections(value: unknown, depth: number = MAX_DEPTH): void {
  if (typeof value !== 'object' || value === null || depth < 0) return;
  if (isThenable(value)) return void Promise.resolve(value).catch(() => {});
  for (const inner of valuesOf(value)) ignoreRejections(inner, depth - 1);
}

function valuesOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return Object.values(Object.getOwnPropertyDescriptors(value)).map((property) => property.value as unknown);
}
