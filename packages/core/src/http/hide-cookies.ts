import type { Facts } from '../contract/facts.ts';
import type { CookieTest } from './cookie-names.ts';

/** Records the removal of the cookies of `facts.hiddenCookies`: the next handler receives only the others. */
export function hideCookies(facts: Facts): void {
  const { hiddenCookies: isHidden } = facts;
  const cookie = isHidden && facts.header('cookie');
  if (cookie === undefined) return;
  const value = visibleCookies(cookie, isHidden!);
  if (value === cookie) return;
  facts.requestChanges.push(value === '' ? { op: 'remove', name: 'cookie' } : { op: 'set', name: 'cookie', value });
}

/** Returns a `Cookie` header without its hidden cookies: the same text if it has none, empty if no other is left. */
export function visibleCookies(cookie: string, isHidden: CookieTest): string {
  const parts = cookie.split(';').map((part) => part.trim());
  const kept = parts.filter((part) => part !== '' && !isHidden(nameOf(part)));
  return kept.length === parts.length ? cookie : kept.join('; ');
}

function nameOf(part: string): string {
  const end = part.indexOf('=');
  return end < 0 ? part : part.slice(0, end).trim();
}
