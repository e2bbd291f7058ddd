import type {
  AuthAllowed,
  AuthDecision,
  AuthDenied,
  AuthMethod,
  AuthMethodKind,
  Context,
  GroupLookup,
  GroupLookupKind,
  HeaderChange,
} from '@edge-gateway/core';
import { claimHeaders, claimMetadata, unsendableClaim, type Claims } from '@edge-gateway/core/jwt';
import type { AccessTokenValidation, ClaimToHeader } from '@edge-gateway/core/schema';
import { configError } from '../error-codes.ts';
import { bearerToken } from '../token/bearer-token.ts';
import { createLookUp, type Known } from '../token/lookup.ts';

/** Parts of the method from other packages. */
export interface AccessTokenParts {
  /** Reads the groups that tokens leave out, for `azure`; see `azureGroups` of the package oidc. */
  readonly groups?: GroupLookupKind;
}

/** An access token in `Authorization: Bearer` or in the query, verified by its signature or by introspection. */
export const accessTokenMethod: AuthMethodKind<AccessTokenValidation> = createAccessTokenMethod();

/**
 * Creates the method for access tokens with parts from other packages. `create` throws `ERR_EXTAUTH_CONFIG` for a
 * block that cannot be used, also for `azure` without `groups`.
 *
 * @example
 * app.use(extauth({ config, methods: [createAccessTokenMethod({ groups: azureGroups })] }));
 */
export function createAccessTokenMethod({ groups }: AccessTokenParts = {}): AuthMethodKind<AccessTokenValidation> {
  return {
    type: 'oauth2.accessTokenValidation',
    grantedHeaders: ({ claimsToHeaders }) => (claimsToHeaders ?? []).map(({ header = '' }) => header.toLowerCase()),
    create: (spec, scope) => methodOf(spec, { ...scope, groups }),
  };
}

type MethodParts = AccessTokenParts & { readonly id: string; readonly context: Context };

function methodOf(spec: AccessTokenValidation, parts: MethodParts): AuthMethod {
  const lookUp = createLookUp(spec, parts.id, parts.context);
  const groups = groupsOf(spec, parts);
  const userAttribute = spec.introspection?.userIdAttributeName;
  return {
    local: !!spec.jwt?.localJwks && !spec.userinfoUrl && !groups,
    close: () => groups?.close(),
    async authorize(request): Promise<AuthDecision> {
      const token = bearerToken(request);
      if (token === undefined) return denied('no token, or several');
      const known = await lookUp(token, request.clientAddress);
      if (typeof known === 'string') return denied(known);
      const claims = groups ? await groups.complete(known.claims) : known.claims;
      if (!hasScopes(spec.requiredScopes?.scope ?? [], claims)) return denied('a required scope is missing');
      const userId = claims[userAttribute ?? 'sub'];
      if (userAttribute !== undefined && typeof userId !== 'string') return denied(`no attribute ${userAttribute}`);
      const unsendable = spec.jwt && unsendableClaim(claims, spec.claimsToHeaders ?? []);
      if (unsendable !== undefined) return denied(`the claim ${unsendable} cannot be sent as a header`);
      return allowed(spec, { ...known, claims }, userId);
    },
  };
}

function groupsOf({ azure }: AccessTokenValidation, { groups, id, context }: MethodParts): GroupLookup | undefined {
  if (azure && !groups) throw configError(`${id}: azure needs a lookup of groups`);
  return azure && groups?.(azure, { context });
}

function allowed(spec: AccessTokenValidation, { claims, userInfo }: Known, userId: unknown): AuthAllowed {
  const isJwt = spec.jwt !== undefined;
  const introspection = userInfo ?? (isJwt ? undefined : claims);
  return {
    allowed: true,
    claims,
    requestChanges: isJwt ? claimChanges(spec.claimsToHeaders ?? [], claims) : [],
    state: { ...(isJwt && { jwtAccessToken: claims }), ...(introspection && { introspection }) },
    ...(typeof userId === 'string' && { userId }),
    ...(spec.dynamicMetadataFromClaims && { metadata: claimMetadata(claims, spec.dynamicMetadataFromClaims) }),
  };
}

/** Copies claims into headers; removes those of the client, also if the claim is missing. */
function claimChanges(rules: readonly ClaimToHeader[], claims: Claims): HeaderChange[] {
  const removed = rules.map(({ header = '' }): HeaderChange => ({ op: 'remove', name: header.toLowerCase() }));
  return [...removed, ...claimHeaders(claims, rules)];
}

function denied(reason: string): AuthDenied {
  return { allowed: false, status: 403, reason };
}

/** Returns true if each wanted scope is in the claim `scope`, a string with spaces or a list. */
function hasScopes(wanted: readonly string[], { scope }: Claims): boolean {
  if (wanted.length === 0) return true;
  const given = typeof scope === 'string' ? scope.split(' ') : Array.isArray(scope) ? (scope as unknown[]) : [];
  return wanted.every((one) => given.includes(one));
}
