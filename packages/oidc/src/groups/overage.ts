import { digest, type TokenClaims } from '@edge-gateway/core';
import { failure } from '../failure.ts';
import { CLOCK_SKEW_SECONDS } from '../provider/verify.ts';

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** What was read is kept so long at least, also for a token that ends, or has ended, or never ends. */
const MIN_KEPT_MS = 60_000;

/** True for the claims of a user whose groups were left out: they say that there are some, or that they are elsewhere. */
export function lacksGroups(claims: TokenClaims): boolean {
  const { _claim_names: names, hasgroups } = claims;
  if (typeof names === 'object' && names !== null && Object.hasOwn(names, 'groups')) return true;
  return claims.groups === undefined && (hasgroups === true || hasgroups === 'true');
}

/** Whose groups are asked for. */
export interface Subject {
  /** Id of the user in the tenant. */
  readonly oid: string;
  /** The same for the tokens of one login, another for each later one. */
  readonly key: string;
  /** Until when the groups hold, in milliseconds since the epoch. */
  readonly until: number;
}

/** Throws `ERR_OIDC_GROUPS_UNAVAILABLE` for claims that name no user of the tenant. */
export function subjectOf({ oid, tid, iat, exp }: TokenClaims, tenantId: string, now: number): Subject {
  // It becomes part of an address.
  if (typeof oid !== 'string' || !ID.test(oid))
    throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', 'groups are left out of a token that names no user by oid');
  if (typeof tid === 'string' && ID.test(tenantId) && tid.toLowerCase() !== tenantId.toLowerCase())
    throw failure('ERR_OIDC_GROUPS_UNAVAILABLE', 'groups are left out of a token of another tenant');
  const end = typeof exp === 'number' && Number.isFinite(exp) ? (exp + CLOCK_SKEW_SECONDS) * 1000 : 0;
  return { oid, key: digest(JSON.stringify([oid, iat, exp])), until: Math.max(end, now + MIN_KEPT_MS) };
}
