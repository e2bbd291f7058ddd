/** A bounded map whose entries end: at most `max` of them, each for `ttlMs`. The oldest gives way. */
export interface ExpiringMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Makes an {@link ExpiringMap} on the given clock (milliseconds). */
export function createExpiringMap<V>(limits: {
  readonly max: number;
  readonly ttlMs: number;
  readonly now: () => number;
}): ExpiringMap<V> {
  const entries = new Map<string, { readonly value: V; readonly until: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry && entry.until > limits.now()) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set(key, value) {
      entries.delete(key);
      const now = limits.now();
      for (const [oldest, { until }] of entries) {
        if (until > now && entries.size < limits.max) break;
        entries.delete(oldest);
      }
      entries.set(key, { value, until: now + limits.ttlMs });
    },
    delete: (key) => void entries.delete(key),
  };
}
