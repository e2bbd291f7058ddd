const MAX_COOKIES = 300;

/** Parses a `Cookie` header. A name with two different values is ambiguous and omitted. */
export function parseCookies(header: string | undefined): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const part of (header ?? '').split(';', MAX_COOKIES)) {
    const at = part.indexOf('=');
    if (at < 1) continue;
    const name = part.slice(0, at).trim();
    const written = part.slice(at + 1).trim();
    const value =
      written.length > 1 && written.startsWith('"') && written.endsWith('"') ? written.slice(1, -1) : written;
    if (cookies.has(name) && cookies.get(name) !== value) ambiguous.add(name);
    cookies.set(name, value);
  }
  for (const name of ambiguous) cookies.delete(name);
  return cookies;
}
