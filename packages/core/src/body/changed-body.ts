import type { IncomingMessage } from 'node:http';
import { factsOf } from '../contract/facts.ts';

/** Headers that describe the bytes of a body. */
const DESCRIBING: ReadonlySet<string> = new Set([
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
  'accept-ranges',
  'content-range',
]);

/** Returns true for a header that no longer holds once the body is changed; `lower` is in lower case. */
export function describesBytes(lower: string, value: string): boolean {
  // A strong validator would name other bytes (RFC 9110 8.8.1).
  return DESCRIBING.has(lower) || (lower === 'etag' && !value.startsWith('W/'));
}

/**
 * Returns the headers of a message, flat, whose body was changed: those of the `received` ones that described its bytes are removed. Others
 * of the same names stay: what changed the body has set them.
 */
export function headersOfChangedBody(flat: readonly string[], received: readonly string[]): string[] {
  const stale = new Set<string>();
  for (let i = 0; i < received.length; i += 2) {
    const lower = received[i]!.toLowerCase();
    if (describesBytes(lower, received[i + 1]!)) stale.add(`${lower}:${received[i + 1]!}`);
  }
  if (stale.size === 0) return [...flat];
  return flat.filter((_, i, all) => {
    const at = i - (i % 2);
    return !stale.has(`${all[at]!.toLowerCase()}:${all[at + 1]!}`);
  });
}

/** Removes the headers of a request that describe the bytes of its body, which is changed. Those that handlers set stay. */
export function removeDescriptions(req: IncomingMessage): void {
  const facts = factsOf(req);
  const received = facts.headers ?? req.rawHeaders;
  const names = new Set<string>();
  for (let i = 0; i < received.length; i += 2) {
    const lower = received[i]!.toLowerCase();
    if (describesBytes(lower, received[i + 1]!)) names.add(lower);
  }
  facts.requestChanges.unshift(...Array.from(names, (name) => ({ op: 'remove' as const, name })));
}
