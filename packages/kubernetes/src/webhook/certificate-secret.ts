import type { CertificateSet, KeyPair } from './certificate-set.ts';

/** The entries of the Secret: those of its type, and two of our own during a renewal. */
const ENTRIES = { certificate: 'tls.crt', key: 'tls.key', roots: 'ca.crt' } as const;
const NEXT = { certificate: 'next.crt', key: 'next.key' } as const;

/** Removes all entries, as a JSON merge patch. */
export const NO_ENTRIES: Readonly<Record<string, null>> = Object.fromEntries(
  [...Object.values(ENTRIES), ...Object.values(NEXT)].map((name) => [name, null]),
);

/** Returns the `data` of the Secret of a set. */
export function secretData({ certificate, key, roots, next }: CertificateSet): Readonly<Record<string, string>> {
  const data = {
    [ENTRIES.certificate]: certificate,
    [ENTRIES.key]: key,
    [ENTRIES.roots]: roots,
    ...(next && { [NEXT.certificate]: next.certificate, [NEXT.key]: next.key }),
  };
  return Object.fromEntries(Object.entries(data).map(([name, text]) => [name, base64(text)]));
}

/** Returns the set in the `data` of a Secret; `undefined` if an entry is missing. The entries may have any content. */
export function certificateSetIn(data: unknown): CertificateSet | undefined {
  const pair = pairIn(data, ENTRIES);
  const roots = textIn(data, ENTRIES.roots);
  const next = pairIn(data, NEXT);
  return pair && roots !== undefined ? { ...pair, roots, ...(next && { next }) } : undefined;
}

function pairIn(data: unknown, names: { readonly certificate: string; readonly key: string }): KeyPair | undefined {
  const [certificate, key] = [textIn(data, names.certificate), textIn(data, names.key)];
  return certificate !== undefined && key !== undefined ? { certificate, key } : undefined;
}

function textIn(data: unknown, name: string): string | undefined {
  const value = (data as Readonly<Record<string, unknown>> | undefined | null)?.[name];
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : undefined;
}

/** Returns the text as base64, as in all fields of bytes of the API. */
export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
