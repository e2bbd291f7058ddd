import type { AuthRequest, HeaderChange } from '@edge-gateway/core';
import type { ClaimToHeader } from '@edge-gateway/core/schema';
import type { JWTPayload } from 'jose';

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

/** Returns header changes for claims, without claims that are missing or cannot be header values. */
export function claimChanges(claims: JWTPayload | undefined, rules: readonly ClaimToHeader[]): HeaderChange[] {
  return rules.flatMap(({ claim = '', header = '', append }): HeaderChange[] => {
    const value = headerValueOf(claims && Object.hasOwn(claims, claim) ? claims[claim] : undefined);
    if (value === undefined || header === '') return [];
    return [{ op: append ? 'append' : 'set', name: header.toLowerCase(), value }];
  });
}

/** Text, numbers and booleans are unchanged, lists and objects become Base64-encoded JSON; the header carries UTF-8 bytes. */
function headerValueOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'object' ? Buffer.from(JSON.stringify(value)).toString('base64') : String(value);
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(text)) return undefined;
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Returns the metadata of `dynamicMetadataFromClaims`: unchanged claims by key. */
export function metadataFrom(
  claims: JWTPayload | undefined,
  rules: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (!claims || !rules) return undefined;
  const found = Object.entries(rules).filter(([, claim]) => Object.hasOwn(claims, claim));
  return found.length > 0 ? Object.fromEntries(found.map(([key, claim]) => [key, claims[claim]])) : undefined;
}
