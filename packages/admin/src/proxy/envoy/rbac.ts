import type { Rbac, RbacPolicy } from '@edge-gateway/core/schema';
import { message, typed, type Message } from './json.ts';

const RBAC = 'envoy.extensions.filters.http.rbac.v3';
/** Metadata key of verified claims, by provider. */
const CLAIMS = 'envoy.filters.http.jwt_authn';
type Principal = NonNullable<NonNullable<RbacPolicy['principals']>[number]['jwtPrincipal']>;

/** Returns the policies of one level as RBACPerRoute; a disabled block removes those of the levels above. */
export function rbacPerRoute({ disable, policies = {} }: Rbac): Message {
  if (disable) return typed(`${RBAC}.RBACPerRoute`);
  const entries = Object.entries(policies).map(([name, policy]) => [name, rbacPolicy(policy)] as const);
  const rules = message({ action: 'ALLOW', policies: Object.fromEntries(entries) });
  return typed(`${RBAC}.RBACPerRoute`, { rbac: { rules } });
}

/** Returns the filter itself: without a block at some level it has no effect. */
export function rbacFilter(): Message {
  return typed(`${RBAC}.RBAC`);
}

function rbacPolicy({ principals = [], permissions = {}, nestedClaimDelimiter }: RbacPolicy): Message {
  const ids = principals.map(({ jwtPrincipal }) => principal(jwtPrincipal ?? {}, nestedClaimDelimiter));
  return { permissions: [permission(permissions)], principals: ids };
}

function permission({ pathPrefix, methods = [] }: NonNullable<RbacPolicy['permissions']>): Message {
  const path = pathPrefix ? [{ url_path: { path: { prefix: pathPrefix } } }] : [];
  const each = methods.map((exact) => ({ header: { name: ':method', string_match: { exact } } }));
  const method = each.length > 1 ? [{ or_rules: { rules: each } }] : each;
  const rules = [...path, ...method];
  if (rules.length === 0) return { any: true };
  return rules.length === 1 ? rules[0]! : { and_rules: { rules } };
}

function principal({ claims = {}, provider, matcher }: Principal, delimiter: string | undefined): Message {
  const ids = Object.entries(claims).map(([claim, value]) => {
    const steps = delimiter ? claim.split(delimiter) : [claim];
    const path = [...(provider ? [provider] : []), ...steps].map((key) => ({ key }));
    return { metadata: { filter: CLAIMS, path, value: valueMatch(matcher, value) } };
  });
  if (ids.length === 0) return { any: true };
  return ids.length === 1 ? ids[0]! : { and_ids: { ids } };
}

function valueMatch(matcher: Principal['matcher'], value: string | boolean): Message {
  if (matcher === 'BOOLEAN') return { bool_match: String(value) === 'true' };
  if (matcher === 'LIST_CONTAINS') return { list_match: { one_of: { string_match: { exact: String(value) } } } };
  if (matcher === 'REGEX_MATCH') return { string_match: { safe_regex: { regex: String(value) } } };
  return { string_match: { exact: String(value) } };
}
