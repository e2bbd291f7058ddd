import { digest, type TokenClaims } from '@edge-gateway/core';
import { failure } from '../error-codes.ts';
import { CLOCK_SKEW_SECONDS } from '../provider/verify.ts';

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Groups are cached for at least this time, whenever the token expires. */
const MIN_KEPT_MS = 60_000;

/** Returns true if the claims indicate that groups were omitted. */
export function lacksGroups(claims: TokenClaims): boolean {
  const { _claim_names: names, hasgroups } = claims;
  if (typeof names === 'object' && names !== null && Object.hasOwn(names, 'groups')) return true;
  return claims.groups === undefined && (hasgroups === true || hasgroups === 'true');
}

/** The user whose groups are read. */
export interface Subject {
  /** Id of the user in the tenant. */
  readonly oid: string;
  /** The same for all tokens of one login, another for each later login. */
  readonly key: string;
  /** When the groups expire, in milliseconds since the epoch. */
  readonly until: number;
}

/** Returns the user of claims. Throws `ERR_OIDC_GROUPS_UNAVAILABLE` if they name no user of the tenant. */
export function subjectOf({ oid, tid, iat, exp }: TokenClaims, tenantId: string, now: number): Subject {
  // It becomes part of a URL.
  if (typeof oid !== 'string' || !ID.test(oid))
    throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', 'groups are omitted from a token without a valid oid');
  if (typeof tid === 'string' && ID.test(tenantId) && tid.toLowerCase() !== tenantId.toLowerCase())
    throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', 'groups are omitted from a token of another tenant');
  const end = typeof exp === 'number' && Number.isFinite(exp) ? (exp + CLOCK_SKEW_SECONDS) * 1000 : 0;
  return { oid, key: digest(JSON.stringify([oid, iat, exp])), until: Math.max(end, now + MIN_KEPT_MS) };
}
