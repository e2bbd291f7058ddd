import type { QueryChange } from '@edge-gateway/core';

/** Characters that need no escape in a query parameter (RFC 3986 §3.4); `%` only if it begins an escape. */
const TO_ESCAPE = /%(?![0-9A-Fa-f]{2})|[^%A-Za-z0-9\-._~!$'()*+,;:@/?=]/gu;

/**
 * Returns a path with a changed query. Names are compared unescaped; a parameter that is set replaces the first of that name, and its
 * other occurrences are removed. All others stay as they were written.
 */
export function changeQuery(path: string, changes: readonly QueryChange[]): string {
  if (changes.length === 0) return path;
  const cut = path.indexOf('?');
  let parts = cut < 0 ? [] : path.slice(cut + 1).split('&');
  for (const change of changes) {
    if (change.name === '') continue;
    const isOther = (part: string): boolean => nameOf(part) !== change.name;
    if (change.op === 'remove') {
      parts = parts.filter(isOther);
      continue;
    }
    const first = parts.findIndex((part) => !isOther(part));
    const written = `${escaped(change.name).replaceAll('=', '%3D')}=${escaped(change.value)}`;
    if (first < 0) parts = [...parts.filter((part) => part !== ''), written];
    else parts = [...parts.slice(0, first), written, ...parts.slice(first + 1).filter(isOther)];
  }
  const base = cut < 0 ? path : path.slice(0, cut);
  return parts.every((part) => part === '') ? base : `${base}?${parts.join('&')}`;
}

function nameOf(part: string): string {
  const cut = part.indexOf('=');
  const written = (cut < 0 ? part : part.slice(0, cut)).replaceAll('+', ' ');
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

function escaped(text: string): string {
  return text.toWellFormed().replaceAll(TO_ESCAPE, encodeURIComponent);
}
