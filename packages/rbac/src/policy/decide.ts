import { compileRegex } from '@edge-gateway/core';
import { claimAt, type Claims } from '@edge-gateway/core/jwt';
import type { RbacPolicy } from '@edge-gateway/core/schema';

/** Facts of a request that decide about its access. */
export interface AccessRequest {
  readonly method: string;
  /** Canonical, with or without query. */
  readonly path: string;
  /** Verified claims by JWT provider. */
  readonly claims: ReadonlyMap<string, Claims>;
}

/** The policy that allows a request, or the closest policy and what was missing. */
export type Decision =
  | { readonly allowed: true; readonly policy: string }
  | { readonly allowed: false; readonly closest?: string; readonly reason: string };

interface Miss {
  /** More is closer: 0 the path or method, 1 a token, 2 its claims. */
  readonly progress: number;
  readonly reason: string;
}

/** A compiled policy: returns `undefined` if it allows a request, otherwise what was missing. */
type CompiledPolicy = (request: AccessRequest) => Miss | undefined;

/** Compiles policies. Throws for a regular expression that does not compile. */
export function compilePolicies(policies: Readonly<Record<string, RbacPolicy>>): (request: AccessRequest) => Decision {
  const compiled = Object.entries(policies).map(([name, policy]) => ({ name, check: compilePolicy(policy) }));
  return (request) => {
    let closest: { name: string; miss: Miss } | undefined;
    for (const { name, check } of compiled) {
      const miss = check(request);
      if (!miss) return { allowed: true, policy: name };
      if (!closest || miss.progress > closest.miss.progress) closest = { name, miss };
    }
    if (!closest) return { allowed: false, reason: 'no policy is configured' };
    return { allowed: false, closest: closest.name, reason: closest.miss.reason };
  };
}

function compilePolicy(policy: RbacPolicy): CompiledPolicy {
  const permits = compilePermissions(policy.permissions);
  const principals = (policy.principals ?? []).map((each) =>
    compilePrincipal(each.jwtPrincipal ?? {}, policy.nestedClaimDelimiter ?? ''),
  );
  return (request) => {
    const refused = permits(request);
    if (refused || principals.length === 0) return refused;
    let closest: Miss | undefined;
    for (const principal of principals) {
      const miss = principal(request);
      if (!miss) return undefined;
      if (!closest || miss.progress > closest.progress) closest = miss;
    }
    return closest;
  };
}

function compilePermissions({
  pathPrefix = '',
  methods = [],
}: NonNullable<RbacPolicy['permissions']> = {}): CompiledPolicy {
  const allowed = new Set(methods);
  const canonicalPrefix = canonicalEscapes(pathPrefix);
  return ({ method, path }) => {
    if (pathPrefix !== '' && !isCanonical(path))
      return { progress: 0, reason: 'the path is not in its canonical form' };
    if (!path.startsWith(canonicalPrefix) && !path.startsWith(pathPrefix))
      return { progress: 0, reason: `the path does not begin with ${pathPrefix}` };
    if (allowed.size > 0 && !allowed.has(method))
      return { progress: 0, reason: `the method is not ${methods.join(' or ')}` };
    return undefined;
  };
}

/** A segment `.` or `..`, however often it is encoded, a backslash, or an empty segment. */
const AMBIGUOUS =
  /(?:^|[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:[/\\;]|%(?:25)*(?:2f|5c|3b)|$)|\\|%(?:25)*5c|\/\//i;

/**
 * Returns true for a path that every server interprets in the same way. The gateway has only such paths; in a user's own server the
 * handler may resolve other paths to a place outside the prefix.
 */
export function isCanonical(path: string): boolean {
  const query = path.indexOf('?');
  return !AMBIGUOUS.test(query === -1 ? path : path.slice(0, query));
}

/** Writes a prefix as the gateway writes paths: without needless escapes, non-ASCII letters escaped, escapes in upper case. */
function canonicalEscapes(prefix: string): string {
  const escaped = prefix.replace(/[\u0080-\uffff]+/g, (letters) => encodeURIComponent(letters.toWellFormed()));
  return escaped.replace(/%([0-9a-fA-F]{2})/g, (escape, hex: string) => {
    const char = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(char) ? char : escape.toUpperCase();
  });
}

type Principal = NonNullable<NonNullable<NonNullable<RbacPolicy['principals']>[number]>['jwtPrincipal']>;

function compilePrincipal(
  { claims = {}, provider = '', matcher = 'EXACT_STRING' }: Principal,
  delimiter: string,
): CompiledPolicy {
  const wanted = Object.entries(claims).map(([claim, value]) => ({
    claim,
    matches: compileMatcher(matcher, String(value)),
  }));
  const lacks = (found: Claims): string | undefined =>
    wanted.find(({ claim, matches }) => !matches(claimAt(found, claim, delimiter)))?.claim;
  return ({ claims: byProvider }) => {
    const candidates =
      provider === '' ? [...byProvider.values()] : [byProvider.get(provider)].filter((each) => each !== undefined);
    if (candidates.length === 0) {
      const reason = provider === '' ? 'no verified token' : `no token of provider ${provider}`;
      return { progress: 1, reason };
    }
    const lacking = candidates.map(lacks);
    if (lacking.includes(undefined)) return undefined;
    return { progress: 2, reason: `the claim ${lacking[0]} does not have the required value` };
  };
}

function compileMatcher(matcher: NonNullable<Principal['matcher']>, wanted: string): (value: unknown) => boolean {
  if (matcher === 'BOOLEAN') return (value) => typeof value === 'boolean' && String(value) === wanted;
  if (matcher === 'LIST_CONTAINS') return (value) => Array.isArray(value) && value.includes(wanted);
  if (matcher === 'REGEX_MATCH') {
    const pattern = compileRegex(wanted);
    return (value) => typeof value === 'string' && pattern.fullMatch(value);
  }
  return (value) => typeof value === 'string' && value === wanted;
}
