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
  if (depth === 0 || ArrayBuffer.isView(value)) return;
  if (Array.isArray(value)) for (const inner of value) ignoreRejections(inner, depth - 1);
  // Without the descriptors of all properties at once, which take four times as long.
  else for (const name of Object.getOwnPropertyNames(value)) ignoreRejections(propertyOf(value, name), depth - 1);
}

function propertyOf(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value as unknown;
}
