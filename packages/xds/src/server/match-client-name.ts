import type { ClientName, NameSegment } from './client-names.ts';

/** The proxy that a client wants to be. */
export interface NamedProxy {
  readonly namespace: string;
  readonly proxy: string;
}

/** Returns true if a name of a certificate is the one of a proxy. Wildcards in certificates match nothing. */
export function isNameOf(pattern: ClientName, name: string, proxy: NamedProxy): boolean {
  const found = segmentsOf(pattern, name);
  return (
    found.length === pattern.segments.length &&
    pattern.segments.every((segment, i) => (segment === '*' ? found[i] !== '' : found[i] === textOf(segment, proxy)))
  );
}

/** Returns true if a name of a certificate is meant for some proxy, though perhaps malformed: incomplete, or in other letter case. */
export function hasFormOf(pattern: ClientName, name: string): boolean {
  const found = segmentsOf(pattern, name);
  return pattern.segments.every(
    (segment, i) => typeof segment === 'string' || found[i]?.toLowerCase() === segment.text.toLowerCase(),
  );
}

/** Returns the name that the certificate of a proxy must have. */
export function nameFor({ kind, segments }: ClientName, proxy: NamedProxy): string {
  return segments.map((each) => textOf(each, proxy)).join(SEPARATOR[kind]);
}

const SEPARATOR = { URI: '/', DNS: '.' } as const;

function segmentsOf({ kind }: ClientName, name: string): readonly string[] {
  return name.split(SEPARATOR[kind]);
}

function textOf(segment: NameSegment, { namespace, proxy }: NamedProxy): string {
  if (segment === '{namespace}') return namespace;
  if (segment === '{proxy}') return proxy;
  return segment === '*' ? segment : segment.text;
}
