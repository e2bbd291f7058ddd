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
 * Returns the cookies that carry a value: one, or for a long value `<name>` with the digests of its chunks, and `<name>_1`,
 * `<name>_2`…; `undefined` if it is too long for cookies.
 */
export function splitValue(name: string, value: string): readonly (readonly [string, string])[] | undefined {
  if (value.length <= CHUNK_LENGTH) return [[name, value]];
  const count = Math.ceil(value.length / CHUNK_LENGTH);
  if (count > MAX_CHUNKS) return undefined;
  const chunks = Array.from({ length: count }, (_, i) => value.slice(i * CHUNK_LENGTH, (i + 1) * CHUNK_LENGTH));
  return [
    [name, ['chunks', ...chunks.map(digest)].join(':')],
    ...chunks.map((chunk, i) => [`${name}_${i + 1}`, chunk] as const),
  ];
}

const CHUNKS = new RegExp(`^chunks(?::[\\w-]{43}){2,${MAX_CHUNKS}}$`);

/**
 * Returns the values passed to {@link splitValue}: several if cookies of one name have several values, none if chunks are missing,
 * changed, reordered or of another login.
 */
export function joinValues(name: string, cookies: Cookies): readonly string[] {
  const written = cookies.get(name) ?? [];
  if (!written.some((first) => CHUNKS.test(first))) return written.filter((first) => first !== '');
  const byDigest = possibleNames(name)
    .slice(1)
    .map((each) => new Map(cookies.get(each)?.map((chunk) => [digest(chunk), chunk])));
  return written.flatMap((first) => {
    if (!CHUNKS.test(first)) return first || [];
    const chunks = first
      .split(':')
      .slice(1)
      .map((each, i) => byDigest[i]!.get(each));
    return chunks.includes(undefined) ? [] : chunks.join('');
  });
}

/** Returns the names of all cookies that a value under `name` may be spread over. */
export function possibleNames(name: string): readonly string[] {
  return [name, ...Array.from({ length: MAX_CHUNKS }, (_, i) => `${name}_${i + 1}`)];
}
