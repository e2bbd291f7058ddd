import type { Rbac, RbacPolicy } from '../schema/auth/rbac.ts';
import { HIDDEN_DOT_SEGMENT } from './hidden-dot-segment.ts';
import { message, typed, type EnvoyMessage } from './message.ts';

const RBAC = 'envoy.extensions.filters.http.rbac.v3';
/** Metadata key of verified claims, by provider. */
const CLAIMS = 'envoy.filters.http.jwt_authn';
type Principal = NonNullable<NonNullable<RbacPolicy['principals']>[number]['jwtPrincipal']>;

/**
 * Returns the policies of one level as RBACPerRoute; a disabled block removes those of the levels above. `providers` are those of the tokens
 * that a route verifies; without them, as in a dump, a principal of any provider is written without one.
 */
export function rbacPerRoute({ disable, policies = {} }: Rbac, providers?: readonly string[]): EnvoyMessage {
  if (disable) return typed(`${RBAC}.RBACPerRoute`);
  const entries = Object.entries(policies).map(([name, policy]) => [name, rbacPolicy(policy, providers)] as const);
  const rules = message({ action: 'ALLOW', policies: Object.fromEntries(entries) });
  return typed(`${RBAC}.RBACPerRoute`, { rbac: { rules } });
}

/** Returns the filter itself: without a block at some level it has no effect. */
export function rbacFilter(): EnvoyMessage {
  return typed(`${RBAC}.RBAC`);
}

function rbacPolicy(
  { principals = [], permissions = {}, nestedClaimDelimiter }: RbacPolicy,
  providers?: readonly string[],
) {
  const ids = principals.map(({ jwtPrincipal }) =>
    providers
      ? principalOf(jwtPrincipal ?? {}, nestedClaimDelimiter, providers)
      : principal(jwtPrincipal ?? {}, nestedClaimDelimiter),
  );
  const nobodyIsAnybody = providers && ids.length === 0;
  return {
    permissions: [permission(permissions, providers !== undefined)],
    principals: nobodyIsAnybody ? [{ any: true }] : ids,
  };
}

/**
 * Matches a hidden dot segment, a backslash, and an empty segment, as the gateway does: a path that servers may interpret differently is not
 * below any prefix.
 */
const AMBIGUOUS_PATH = `(?i).*(?:${HIDDEN_DOT_SEGMENT}|\\\\|%(?:25)*5c|//).*`;

function permission(
  { pathPrefix, methods = [] }: NonNullable<RbacPolicy['permissions']>,
  isServed: boolean,
): EnvoyMessage {
  const path = pathPrefix ? [{ url_path: { path: { prefix: pathPrefix } } }] : [];
  const isPlain = pathPrefix && isServed ? [{ not_rule: { url_path: { path: regexMatch(AMBIGUOUS_PATH) } } }] : [];
  const each = methods.map((exact) => ({ header: { name: ':method', string_match: { exact } } }));
  const method = each.length > 1 ? [{ or_rules: { rules: each } }] : each;
  const rules = [...path, ...isPlain, ...method];
  if (rules.length === 0) return { any: true };
  return rules.length === 1 ? rules[0]! : { and_rules: { rules } };
}

const regexMatch = (regex: string): EnvoyMessage => ({ safe_regex: { regex } });

/** Returns the principal of one of the providers: all claims must be those of one token. */
function principalOf(
  { claims = {}, provider, matcher }: Principal,
  delimiter: string | undefined,
  providers: readonly string[],
): EnvoyMessage {
  const candidates = providers.filter((name) => !provider || name === provider);
  const each = candidates.map((name) => {
    const ids = Object.entries(claims).map(([claim, value]) =>
      claimId(name, claim, valueMatch(matcher, value), delimiter),
    );
    return combined('and_ids', [presentId(name), ...ids]);
  });
  // Without a provider, no request has a verified token.
  return each.length === 0 ? { not_id: { any: true } } : combined('or_ids', each);
}

function claimId(provider: string, claim: string, value: EnvoyMessage, delimiter: string | undefined): EnvoyMessage {
  const steps = delimiter ? claim.split(delimiter) : [claim];
  const whole = metadataId([provider, claim], value);
  if (steps.length === 1) return whole;
  // A claim with the delimiter in its own name comes first.
  const hasWhole = metadataId([provider, claim], PRESENT);
  return combined('or_ids', [
    whole,
    combined('and_ids', [{ not_id: hasWhole }, metadataId([provider, ...steps], value)]),
  ]);
}

const PRESENT: EnvoyMessage = { present_match: true };

const presentId = (provider: string): EnvoyMessage => metadataId([provider], PRESENT);

function metadataId(path: readonly string[], value: EnvoyMessage): EnvoyMessage {
  return { metadata: { filter: CLAIMS, path: path.map((key) => ({ key })), value } };
}

function combined(kind: 'and_ids' | 'or_ids', ids: readonly EnvoyMessage[]): EnvoyMessage {
  return ids.length === 1 ? ids[0]! : { [kind]: { ids } };
}

function principal({ claims = {}, provider, matcher }: Principal, delimiter: string | undefined): EnvoyMessage {
  const ids = Object.entries(claims).map(([claim, value]) => {
    const steps = delimiter ? claim.split(delimiter) : [claim];
    return metadataId([...(provider ? [provider] : []), ...steps], valueMatch(matcher, value));
  });
  return ids.length === 0 ? { any: true } : combined('and_ids', ids);
}

function valueMatch(matcher: Principal['matcher'], value: string | boolean): EnvoyMessage {
  if (matcher === 'BOOLEAN') return { bool_match: String(value) === 'true' };
  if (matcher === 'LIST_CONTAINS') return { list_match: { one_of: { string_match: { exact: String(value) } } } };
  return { string_match: matcher === 'REGEX_MATCH' ? regexMatch(String(value)) : { exact: String(value) } };
}
