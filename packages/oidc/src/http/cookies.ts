import { digest, type AuthRequest } from '@edge-gateway/core';

/** Attributes of the cookies that a login sets. */
export interface CookieAttributes {
  /** Seconds; `undefined` ends with the browser. */
  readonly maxAgeSeconds: number | undefined;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  /** Empty leaves it out. */
  readonly path: string;
  /** `undefined` leaves it out. */
  readonly sameSite: 'Lax' | 'Strict' | 'None' | undefined;
  readonly domain: string | undefined;
}

/** Characters of one cookie value; browsers keep 4,096 bytes with name and attributes. */
const CHUNK_LENGTH = 3600;
/** Beyond this, servers refuse the `Cookie` header. */
const MAX_CHUNKS = 4;
const MAX_COOKIES = 300;

/** The cookies of a `Cookie` header. A name that comes twice is ambiguous, and so has no value. */
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

/** The cookies of a request; HTTP/2 may spread them over several headers. */
export function cookiesOf(request: AuthRequest): ReadonlyMap<string, string> {
  const headers = request.headers();
  const lines: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() === 'cookie') lines.push(headers[i + 1]!);
  }
  return parseCookies(lines.join('; '));
}

/** A `Set-Cookie` value. Deleting one names the same domain and path, else browsers keep it. */
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

export function clearCookie(name: string, attributes: CookieAttributes): string {
  return setCookie(name, '', { ...attributes, maxAgeSeconds: 0 });
}

/**
 * The cookies that carry a value: one, or for a long value `<name>` with the number of chunks and a digest, and
 * `<name>_1`, `<name>_2`…; `undefined` when it is too long for cookies.
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

/** What `splitValue` was given; `undefined` when chunks are missing, changed, in another order or of another login. */
export function joinValue(name: string, cookies: ReadonlyMap<string, string>): string | undefined {
  const first = cookies.get(name);
  const chunked = /^chunks:([2-9]):([\w-]{43})$/.exec(first ?? '');
  if (!chunked) return first || undefined;
  const count = Number(chunked[1]);
  if (count > MAX_CHUNKS) return undefined;
  let value = '';
  for (let i = 1; i <= count; i++) value += cookies.get(`${name}_${i}`) ?? '';
  return digest(value) === chunked[2] ? value : undefined;
}

/** Returns the names of all cookies that a value under `name` may be spread over. */
export function possibleNames(name: string): readonly string[] {
  return [name, ...Array.from({ length: MAX_CHUNKS }, (_, i) => `${name}_${i + 1}`)];
}

/** Returns those that the browser sent. */
export function presentNames(name: string, cookies: ReadonlyMap<string, string>): readonly string[] {
  return possibleNames(name).filter((each) => cookies.has(each));
}
