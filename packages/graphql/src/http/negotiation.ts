import type { ServerResponse } from 'node:http';

/** Returns `Vary` of a negotiated response, with the values that earlier middleware has set. */
export function varyByAccept(res: ServerResponse): string {
  const set = [res.getHeader('vary') ?? []].flat().map(String);
  return set.some((value) => /(^|,)\s*(\*|accept)\s*(,|$)/i.test(value))
    ? set.join(', ')
    : [...set, 'Accept'].join(', ');
}
