import { isHeaderName } from './reserved-headers.ts';
/** Returns whether a cookie name matches. */
export type CookieTest = (name: string) => boolean;

/** Attributes that the prefixes of cookie names depend on (RFC 6265bis, section 4.1.3). */
type PrefixAttributes = { readonly secure: boolean; readonly path: string; readonly domain: string | undefined };

/** Returns `__Host-` if a cookie with these attributes may have this prefix, so that sibling hosts cannot set it; otherwise an empty text. */
export function hostPrefix({ secure, path, domain }: PrefixAttributes): '' | '__Host-' {
  return secure && path === '/' && !domain ? '__Host-' : '';
}

/** Returns why browsers reject a cookie with this name and these attributes; `undefined` if they accept it. */
export function cookieNameProblem(name: string, attributes: PrefixAttributes): string | undefined {
  if (!isHeaderName(name)) return "only letters, digits and !#$%&'*+-.^_`|~ are allowed in the name of a cookie";
  const lower = name.toLowerCase();
  if (lower.startsWith('__host-') && hostPrefix(attributes) === '')
    return 'a name that begins with __Host- needs a secure cookie with path / and without domain';
  if (lower.startsWith('__secure-') && !attributes.secure)
    return 'a name that begins with __Secure- needs a secure cookie';
  return undefined;
}
