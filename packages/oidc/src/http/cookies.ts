import { digest, parseCookies, type AuthRequest } from '@edge-gateway/core';

/** Attributes of the cookies that a login sets. */
export interface CookieAttributes {
  /** Seconds; `undefined` for a cookie that ends with the browser session. */
  readonly maxAgeSeconds: number | undefined;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  /** Empty omits it. */
  readonly path: string;
  /** `undefined` omits it. */
  readonly sameSite: 'Lax' | 'Strict' | 'None' | undefined;
  readonly domain: string | undefined;
}

/** Maximum characters of a cookie value; browsers keep 4,096 bytes including name and attributes. */
const CHUNK_LENGTH = 3600;
/** With more, servers reject the `Cookie` header. */
const MAX_CHUNKS = 4;

/** The cookies of a request: the values of each name, see `parseCookies`. */
export type Cookies = ReadonlyMap<string, readonly string[]>;

/** Returns the cookies of a request; HTTP/2 may split them into several headers. */
export function cookiesOf(request: AuthRequest): Cookies {
  const headers = request.headers();
  const lines: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() === 'cookie') lines.push(headers[i + 1]!);
  }
  return parseCookies(lines.join('; '));
}

/** Returns a `Set-Cookie` value. */
export function setCookie(name: string, value: string, attributes: CookieAttributes): string {
  const { maxAgeSeconds, path, domain, sameSite } = attributes;
  let text = `${name}=${value}`;
  if (path) text += `; Path=${path}`;
  if (domain) text += `; Domain=${domain}`;
  if (maxAgeSeconds !== undefined) text += `; Max-Age=${maxAgeSeconds}`;
  if (maxAgeSeconds === 0) text += '; Expires=Thu, 01 Jan 1970 00:00:00 GMT';
  if (attributes.secure) text += '; Secure';
  if (attributes.httpOnly) text += '; HttpOnly';
  return sameSite ? `${text}; SameSite=${sameSite}` : text;
}

/** Returns the `Set-Cookie` value that deletes a cookie: browsers require the same domain and path. */
export function clearCookie(name: string, attributes: CookieAttributes): string {
  return setCookie(name, '', { ...attributes, maxAgeSeconds: 0 });
}

/**
 * Returns the cookies that carry a value: one, or for a long value `<name>` with the number of chunks and a digest, and
 * `<name>_1`, `<name>_2`…; `undefined` if it is too long for cookies.
 */
export function splitValue(name: string, value: string): readonly (readonly [string, string])[] | undefined {
  if (value.length <= CHUNK_LENGTH) return [[name, value]];
  const count = Math.ceil(value.length / CHUNK_LENGTH);
  if (count > MAX_CHUNKS) return undefined;
  const chunks = Array.from({ length: count }, (_, i) => value.slice(i * CHUNK_LENGTH, (i + 1) * CHUNK_LENGTH));
  return [
    [name, `chunks:${count}:${digest(value)}`],
    ...chunks.map((chunk, i) => [`${name}_${i + 1}`, chunk] as const),
  ];
}

/**
 * Returns the values passed to {@link splitValue}: several if cookies of one name have several values, none if chunks are missing,
 * changed, reordered or of another login.
 */
export function joinValues(name: string, cookies: Cookies): readonly string[] {
  const joined = new Map<number, ReadonlyMap<string, string>>();
  return (cookies.get(name) ?? []).flatMap((first) => {
    const chunked = /^chunks:([2-9]):([\w-]{43})$/.exec(first);
    if (!chunked) return first || [];
    const count = Number(chunked[1]);
    // Once for all values: they are up to 64 digests of a whole header.
    const values = joined.get(count) ?? joinChunks(name, cookies, count);
    joined.set(count, values);
    return values.get(chunked[2]!) ?? [];
  });
}

/** Chunks with several values are combined in this many ways at most. */
const MAX_COMBINATIONS = 64;

/** Returns the combinations of chunks by their digests. */
function joinChunks(name: string, cookies: Cookies, count: number): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  if (count > MAX_CHUNKS) return values;
  const chunks = Array.from({ length: count }, (_, i) => cookies.get(`${name}_${i + 1}`) ?? []);
  const combinations = chunks.reduce((product, { length }) => product * length, 1);
  for (let n = 0; n < Math.min(combinations, MAX_COMBINATIONS); n++) {
    const value = combination(chunks, n);
    values.set(digest(value), value);
  }
  return values;
}

/** Returns the `n`th of all combinations, joined; the first one has the first value of each chunk. */
function combination(chunks: readonly (readonly string[])[], n: number): string {
  let value = '';
  let rest = n;
  for (const values of chunks) {
    value += values[rest % values.length]!;
    rest = Math.floor(rest / values.length);
  }
  return value;
}

/** Returns the names of all cookies that a value under `name` may be spread over. */
export function possibleNames(name: string): readonly string[] {
  return [name, ...Array.from({ length: MAX_CHUNKS }, (_, i) => `${name}_${i + 1}`)];
}
