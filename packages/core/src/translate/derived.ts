interface Entry {
  readonly context: readonly unknown[];
  readonly result: unknown;
}

/** Results that are derived from immutable objects. A result is kept as long as its source, or until its context changes. */
export class Derived {
  readonly #tables = new Map<unknown, WeakMap<object, Entry>>();
  readonly #base: Derived | undefined;

  constructor(base?: Derived) {
    this.#base = base;
  }

  /** Returns results of its own, which begin with these ones and do not change them. */
  fork(): Derived {
    return new Derived(this);
  }

  /** Returns `derive(source, ...context)`: the same result for the same source and context. */
  of<S extends object, C extends readonly unknown[], T>(
    derive: (source: S, ...context: C) => T,
    source: S,
    ...context: C
  ): T {
    const known = this.#known(derive, source, context);
    if (known) return known.result as T;
    let table = this.#tables.get(derive);
    if (!table) this.#tables.set(derive, (table = new WeakMap()));
    const result = derive(source, ...context);
    table.set(source, { context, result });
    return result;
  }

  #known(derive: unknown, source: object, context: readonly unknown[]): Entry | undefined {
    const own = this.#tables.get(derive)?.get(source);
    if (own?.context.every((each, i) => each === context[i])) return own;
    const base = this.#base;
    return base && base.#known(derive, source, context);
  }
}
