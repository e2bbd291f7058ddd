interface Entry {
  readonly context: readonly unknown[];
  readonly result: unknown;
}

/** Results that are derived from immutable objects. A result is kept as long as its source, or until its context changes. */
export class Derived {
  readonly #tables = new Map<unknown, WeakMap<object, Entry>>();

  /** Returns `derive(source, ...context)`: the same result for the same source and context. */
  of<S extends object, C extends readonly unknown[], T>(
    derive: (source: S, ...context: C) => T,
    source: S,
    ...context: C
  ): T {
    let table = this.#tables.get(derive);
    if (!table) this.#tables.set(derive, (table = new WeakMap()));
    const known = table.get(source);
    if (known?.context.every((each, i) => each === context[i])) return known.result as T;
    const result = derive(source, ...context);
    table.set(source, { context, result });
    return result;
  }
}
