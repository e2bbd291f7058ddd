const MAX_COOKIES = 300;
/** More values of one name are ignored: each of them is checked. */
const MAX_VALUES = 8;

/**
 * Parses a `Cookie` header. A name may have several values, of different domains or paths, and the header does not say which one
 * this host has set: a reader uses the value that it can verify, or the first one if it verifies none.
 */
export function parseCookies(header: string | undefined): ReadonlyMap<string, readonly string[]> {
  const cookies = new Map<string, string[]>();
  for (const part of (header ?? '').split(';', MAX_COOKIES)) {
    const at = part.indexOf('=');
    if (at < 1) continue;
    const name = part.slice(0, at).trim();
    const written = part.slice(at + 1).trim();
    const value =
      written.length > 1 && written.startsWith('"') && written.endsWith('"') ? written.slice(1, -1) : written;
    const values = cookies.get(name);
    if (!values) cookies.set(name, [value]);
    else if (values.length < MAX_VALUES && !values.includes(value)) values.push(value);
  }
  return cookies;
}
