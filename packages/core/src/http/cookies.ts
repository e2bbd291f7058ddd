/**
 * Parses a `Cookie` header. A name may have several values, of different domains or paths, and the header does not say which one
 * this host has set: a reader uses the value that it can verify, or the first one if it verifies none. The number of
 * values is not limited, because a sibling host could hide the last one behind others: readers must work in linear time.
 */
export function parseCookies(header: string | undefined): ReadonlyMap<string, readonly string[]> {
  const cookies = new Map<string, Set<string>>();
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at < 1) continue;
    const name = part.slice(0, at).trim();
    const written = part.slice(at + 1).trim();
    const value =
      written.length > 1 && written.startsWith('"') && written.endsWith('"') ? written.slice(1, -1) : written;
    const values = cookies.get(name);
    if (values) values.add(value);
    else cookies.set(name, new Set([value]));
  }
  return new Map(Array.from(cookies, ([name, values]) => [name, [...values]]));
}
