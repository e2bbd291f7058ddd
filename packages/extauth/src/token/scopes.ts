import type { Claims } from '@edge-gateway/core/jwt';

/** Returns true if each wanted scope is in the claim `scope`, a string with spaces or a list. */
export function hasScopes(wanted: readonly string[], { scope }: Claims): boolean {
  if (wanted.length === 0) return true;
  const given = typeof scope === 'string' ? scope.split(' ') : Array.isArray(scope) ? (scope as unknown[]) : [];
  return wanted.every((one) => given.includes(one));
}
