import type { Facts } from '../contract/facts.ts';

/** Records the removal of the cookies of `facts.hiddenCookies`: the next handler receives only the others. */
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
