import type { Facts } from '../facts.ts';

/** Returns whether a cookie, by its name, is one of a kind. */
export type CookieTest = (name: string) => boolean;

/** Attributes that the prefixes of cookie names depend on (RFC 6265bis, section 4.1.3). */
export interface PrefixAttributes {
  readonly secure: boolean;
  readonly path: string;
  readonly domain: string | undefined;
}

/** Returns `__Host-` where a cookie with these attributes may carry it, so that no sibling host can set it; else nothing. */
export function hostPrefix({ secure, path, domain }: PrefixAttributes): '' | '__Host-' {
  return secure && path === '/' && !domain ? '__Host-' : '';
}

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Returns why browsers do not keep a cookie of this name with these attributes; `undefined` where they do. */
export function cookieNameProblem(name: string, attributes: PrefixAttributes): string | undefined {
  if (!TOKEN.test(name)) return "only letters, digits and !#$%&'*+-.^_`|~ are allowed in the name of a cookie";
  const lower = name.toLowerCase();
  if (lower.startsWith('__host-') && hostPrefix(attributes) === '')
    return 'a name that begins with __Host- needs a secure cookie with path / and without domain';
  if (lower.startsWith('__secure-') && !attributes.secure)
    return 'a name that begins with __Secure- needs a secure cookie';
  return undefined;
}

/** Records that the cookies of `facts.hiddenCookies` end here: whoever comes next gets the others. */
export function hideCookies(facts: Facts): void {
  const { hiddenCookies: isHidden } = facts;
  const cookie = isHidden && facts.header('cookie');
  if (cookie === undefined) return;
  const parts = cookie.split(';').map((part) => part.trim());
  const kept = parts.filter((part) => part !== '' && !isHidden!(nameOf(part)));
  if (kept.length === parts.length) return;
  const value = kept.join('; ');
  facts.requestChanges.push(value === '' ? { op: 'remove', name: 'cookie' } : { op: 'set', name: 'cookie', value });
}

function nameOf(part: string): string {
  const end = part.indexOf('=');
  return end < 0 ? part : part.slice(0, end).trim();
}
