import { createHash } from 'node:crypto';

const MAX_LENGTH = 63;
/** Characters on both sides of the hyphen in a shortened name. */
const HALF = 31;

/**
 * Returns the name of the upstream of a port of a Service: `<namespace>-<service>-<port>`, shortened with a digest if it is too long.
 *
 * @example
 * upstreamName({ name: 'petstore', namespace: 'default' }, 8080); // 'default-petstore-8080'
 */
export function upstreamName(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  port: number,
): string {
  return sanitizedName(`${namespace}-${name}-${port}`);
}

/** Returns a valid resource name: other characters are replaced or removed, long names are shortened. */
export function sanitizedName(text: string): string {
  const full = text.replace(/[*/.:_ ]/g, '-').replace(/[[\]\n"']/g, '');
  if (full.length <= MAX_LENGTH) return full.toLowerCase();
  const digest = createHash('md5').update(full).digest('hex');
  return `${full.slice(0, HALF)}-${digest.slice(0, HALF)}`.toLowerCase();
}
