/** A value for some server names (SNI). */
export interface NamedValue<T> {
  /** Lower case: exact names, wildcards `*.b`, or `*`; empty means any name. */
  readonly sniDomains: readonly string[];
  readonly value: T;
}

/** Returns a look-up by server name: exact, else the longest wildcard `*.b`, else the value for any name. */
export function createServerNameIndex<T>(
  values: Iterable<NamedValue<T>>,
): (serverName: string | undefined) => T | undefined {
  const exact = new Map<string, T>();
  const suffixes = new Map<string, T>();
  let any: T | undefined;
  for (const { sniDomains, value } of values) {
    if (sniDomains.length === 0) any ??= value;
    for (const domain of sniDomains) {
      if (domain === '*') any ??= value;
      else if (domain.startsWith('*.')) suffixes.set(domain.slice(1), value);
      else exact.set(domain, value);
    }
  }
  return (serverName) => {
    const name = serverName?.toLowerCase() ?? '';
    const found = exact.get(name);
    if (found) return found;
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      const wildcard = suffixes.get(name.slice(dot));
      if (wildcard) return wildcard;
    }
    return any;
  };
}
