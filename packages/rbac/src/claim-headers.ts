import { GatewayError, type Facts } from '@edge-gateway/core';
import type { JwtProvider } from '@edge-gateway/core/schema';
import { claimAt, headerValueOf, type Claims } from './claims.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Whether a header can have this name. */
export const isHeaderName = (name: string): boolean => HEADER_NAME.test(name);

/** A claim that is copied into a request header. */
export interface ClaimCopy {
  readonly claim: string;
  /** In lower case. */
  readonly header: string;
  readonly append: boolean;
}

/** What a provider copies. Throws `ERR_RBAC_PROVIDER` for a copy without claim or header. */
export function claimCopiesOf(provider: string, { claimsToHeaders = [] }: JwtProvider): ClaimCopy[] {
  return claimsToHeaders.map(({ claim = '', header = '', append = false }) => {
    if (claim === '' || !isHeaderName(header)) {
      throw new GatewayError(`provider ${provider}: claimsToHeaders needs a claim and a header name`, {
        code: 'ERR_RBAC_PROVIDER',
      });
    }
    return { claim, header: header.toLowerCase(), append };
  });
}

/** Header names of copies, with `_` as `-`: the one spelling that all others are compared in. */
export const claimHeadersOf = (copies: readonly ClaimCopy[]): string[] =>
  copies.map(({ header }) => header.replaceAll('_', '-'));

/** Records the headers of verified claims. A claim that is missing, or would break a head, gives none. */
export function copyClaims(copies: readonly ClaimCopy[], claims: Claims, facts: Facts): void {
  for (const { claim, header, append } of copies) {
    const value = headerValueOf(claimAt(claims, claim, '.'));
    if (value === undefined) continue;
    facts.requestChanges.push({ op: append ? 'append' : 'set', name: header, value });
    facts.reroute = true;
  }
}

/**
 * Nobody but a token may fill a claim header: what the client sent under its name goes, in any spelling, and so does
 * what an earlier concern put there. `rawHeaders` count where the facts have none.
 */
export function removeOthersCopies(
  claimHeaders: ReadonlySet<string>,
  facts: Facts,
  rawHeaders: readonly string[],
): void {
  if (claimHeaders.size === 0) return;
  const names = new Set<string>();
  const note = (name: string): void => {
    if (claimHeaders.has(name) || (name.includes('_') && claimHeaders.has(name.replaceAll('_', '-')))) names.add(name);
  };
  const flat = facts.headers ?? rawHeaders;
  for (let i = 0; i < flat.length; i += 2) note(flat[i]!.toLowerCase());
  for (const { name } of facts.requestChanges) note(name);
  for (const name of names) facts.requestChanges.push({ op: 'remove', name });
  // The route may have been chosen by what is gone now.
  if (names.size > 0) facts.reroute = true;
}
