import type { ServerResponse } from 'node:http';

/** Returns `Vary` of a negotiated answer: caches must not give it to clients that accept another type. Keeps what middleware in front has set. */
export function varyByAccept(res: ServerResponse): string {
  const set = [res.getHeader('vary') ?? []].flat().map(String);
  return set.some((value) => /(^|,)\s*(\*|accept)\s*(,|$)/i.test(value))
    ? set.join(', ')
    : [...set, 'Accept'].join(', ');
}
