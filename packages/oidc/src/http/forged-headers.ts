import type { AuthRequest, HeaderChange } from '@edge-gateway/core';

const canonical = (name: string): string => name.toLowerCase().replaceAll('_', '-');

/** Returns changes that remove headers with these names from the client, in every spelling (`-` or `_`). */
export function removeForged(request: AuthRequest, names: ReadonlySet<string>): HeaderChange[] {
  const forged = new Set<string>();
  const headers = request.headers();
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    if (names.has(canonical(name))) forged.add(name);
  }
  return [...forged].map((name) => ({ op: 'remove', name }));
}

/** Returns the canonical form of header names. */
export function headerNames(names: readonly (string | undefined)[]): ReadonlySet<string> {
  return new Set(names.filter((name) => name !== undefined && name !== '').map((name) => canonical(name!)));
}
