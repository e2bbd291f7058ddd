/**
 * Yields a value as JSON in chunks. An array with its content is one chunk; any other iterable is a list whose elements are created
 * and yielded one after the other. `indent` is spaces per level.
 */
export function* jsonChunks(value: unknown, indent = 0, depth = 0): Generator<string, void> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) yield leaf(value, indent, depth);
  else if (isIterable(value)) yield* list(value, indent, depth);
  else yield* object(value, indent, depth);
}

/** Returns a list whose elements are created while it is iterated; it can be iterated as often as `items`. */
export function lazily<T, U>(items: Iterable<T>, make: (item: T) => U): Iterable<U> {
  return {
    *[Symbol.iterator]() {
      for (const item of items) yield make(item);
    },
  };
}

/** Returns true for lists whose elements are created while they are written. */
export function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

function newLine(indent: number, depth: number): string {
  return indent > 0 ? `\n${' '.repeat(indent * depth)}` : '';
}

function leaf(value: unknown, indent: number, depth: number): string {
  const text = JSON.stringify(value, null, indent) ?? 'null';
  return indent > 0 && depth > 0 ? text.replaceAll('\n', newLine(indent, depth)) : text;
}

function* list(items: Iterable<unknown>, indent: number, depth: number): Generator<string, void> {
  let separator = '[';
  for (const item of items) {
    yield separator + newLine(indent, depth + 1);
    yield* jsonChunks(item, indent, depth + 1);
    separator = ',';
  }
  yield separator === '[' ? '[]' : `${newLine(indent, depth)}]`;
}

function* object(value: object, indent: number, depth: number): Generator<string, void> {
  const colon = indent > 0 ? ': ' : ':';
  let separator = '{';
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined) continue;
    yield `${separator}${newLine(indent, depth + 1)}${JSON.stringify(key)}${colon}`;
    yield* jsonChunks(inner, indent, depth + 1);
    separator = ',';
  }
  yield separator === '{' ? '{}' : `${newLine(indent, depth)}}`;
}
