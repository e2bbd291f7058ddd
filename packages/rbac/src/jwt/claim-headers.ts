import { canonicalName, isHeaderName, type Facts, type VirtualHost } from '@edge-gateway/core';
import { rbacError } from '../error-codes.ts';
import { claimHeaders, type Claims } from '@edge-gateway/core/jwt';
import type { ClaimToHeader, JwtProvider, JwtProviders, VirtualHostOptions } from '@edge-gateway/core/schema';

/** Returns the claims that a provider copies into headers. Throws `ERR_RBAC_PROVIDER` for one without claim or header. */
export function claimCopiesOf(provider: string, { claimsToHeaders = [] }: JwtProvider): readonly ClaimToHeader[] {
  if (claimsToHeaders.every(isClaimCopy)) return claimsToHeaders;
  throw rbacError('ERR_RBAC_PROVIDER', `provider ${provider}: claimsToHeaders needs a claim and a header name`);
}

/** Returns true for a copy with a claim and a valid header name. */
export const isClaimCopy = ({ claim = '', header = '' }: ClaimToHeader): boolean =>
  claim !== '' && isHeaderName(header);

/** Returns the header names of copies in lower case with `_` as `-`: the spelling that all others are compared in. */
export const claimHeadersOf = (copies: readonly ClaimToHeader[]): string[] =>
  copies.map(({ header = '' }) => canonicalName(header));

/** Records the headers of verified claims. */
export function copyClaims(copies: readonly ClaimToHeader[], claims: Claims, facts: Facts): void {
  const changes = claimHeaders(claims, copies);
  if (changes.length === 0) return;
  facts.requestChanges.push(...changes);
  facts.reroute = true;
}

/**
 * Removes claim headers that no token set: those of the client, in any spelling, and those of earlier concerns.
 * `rawHeaders` are used if the facts have no headers.
 */
export function removeOthersCopies(
  claimHeaders: ReadonlySet<string>,
  facts: Facts,
  rawHeaders: readonly string[],
): void {
  if (claimHeaders.size === 0) return;
  if (facts.passesTrailers) (facts.guardedNames ??= []).push(claimHeaders);
  const names = new Set<string>();
  const note = (name: string): void => {
    if (claimHeaders.has(name) || (name.includes('_') && claimHeaders.has(canonicalName(name)))) names.add(name);
  };
  const flat = facts.headers ?? rawHeaders;
  for (let i = 0; i < flat.length; i += 2) note(flat[i]!.toLowerCase());
  for (const { name } of facts.requestChanges) note(name);
  for (const name of names) facts.requestChanges.push({ op: 'remove', name });
  // The route may have been chosen by a removed header.
  if (names.size > 0) facts.reroute = true;
}

type Stages = { readonly beforeExtAuth?: JwtProviders; readonly afterExtAuth?: JwtProviders };
type Blocks = Pick<VirtualHostOptions, 'jwt' | 'jwtStaged'> & { readonly jwtProvidersStaged?: Stages };

const NO_NAMES: ReadonlySet<string> = new Set();
const known = new WeakMap<VirtualHost, ReadonlySet<string>>();
const cleaned = new WeakMap<Facts, ReadonlySet<string>>();

/**
 * Returns the headers that claims are copied to on any route of a virtual host, in lower case with `_` as `-`, because its
 * upstreams trust them on every route. Headers that tokens are read from are not included.
 */
export function claimHeadersIn(host: VirtualHost): ReadonlySet<string> {
  const before = known.get(host);
  if (before) return before;
  const providers = [host, ...host.routes].flatMap(({ options }) => providersOf(options as Blocks));
  if (providers.length === 0) {
    known.set(host, NO_NAMES);
    return NO_NAMES;
  }
  const names = new Set(providers.flatMap(({ claimsToHeaders = [] }) => claimHeadersOf(claimsToHeaders)));
  for (const { tokenSource = {} } of providers)
    for (const { header = '' } of tokenSource.headers ?? []) names.delete(canonicalName(header));
  names.delete('authorization');
  known.set(host, names);
  return names;
}

/** Removes the client's headers with these names, once per request: headers that an earlier route of the request set are kept. */
export function removeClientCopies(names: ReadonlySet<string>, facts: Facts): void {
  if (cleaned.get(facts) === names) return;
  cleaned.set(facts, names);
  removeOthersCopies(names, facts, []);
}

const NO_PROVIDERS: readonly JwtProvider[] = Object.freeze([]);

function providersOf({ jwt, jwtStaged, jwtProvidersStaged }: Blocks): readonly JwtProvider[] {
  if (!jwt && !jwtStaged && !jwtProvidersStaged) return NO_PROVIDERS;
  const stages = [jwtStaged as Stages | undefined, jwtProvidersStaged];
  const blocks = [
    jwt as JwtProviders | undefined,
    ...stages.flatMap((each) => [each?.beforeExtAuth, each?.afterExtAuth]),
  ];
  return blocks.flatMap((block) => Object.values(block?.providers ?? {}));
}
