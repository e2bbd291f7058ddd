import type { HeaderChange } from '@edge-gateway/core';
import type { ClaimToHeader } from '@edge-gateway/core/schema';

export type Claims = Readonly<Record<string, unknown>>;

/** Copies claims into request headers. What the client sent under their names goes, also where the claim is absent. */
export function claimChanges(copies: readonly ClaimToHeader[], claims: Claims): HeaderChange[] {
  const changes: HeaderChange[] = copies.map(({ header = '' }) => ({ op: 'remove', name: header.toLowerCase() }));
  for (const { claim = '', header = '', append } of copies) {
    const value = Object.hasOwn(claims, claim) ? textOf(claims[claim]) : undefined;
    if (value !== undefined) changes.push({ op: append ? 'append' : 'set', name: header.toLowerCase(), value });
  }
  return changes;
}

/** Metadata by the names that were asked for. */
export function claimMetadata(wanted: Readonly<Record<string, string>>, claims: Claims): Claims {
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([key, claim]) => (Object.hasOwn(claims, claim) ? [[key, claims[claim]]] : [])),
  );
}

/** Scalars as they are; lists and objects as base64 of their JSON, which no value can break out of. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('latin1');
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === undefined || value === null ? undefined : Buffer.from(JSON.stringify(value)).toString('base64');
}

/** True when each wanted scope is in the claim `scope`, a text with spaces or a list. */
export function hasScopes(wanted: readonly string[], { scope }: Claims): boolean {
  if (wanted.length === 0) return true;
  const given = typeof scope === 'string' ? scope.split(' ') : Array.isArray(scope) ? (scope as unknown[]) : [];
  return wanted.every((one) => given.includes(one));
}
