import { httpStat, parseDuration, type Context, type Counter, type Facts } from '@edge-gateway/core';
import {
  createTokenCache,
  createVerifier,
  JWT_STATUS,
  localKeys,
  parseKeys,
  remoteKeys,
  type Claims,
  type KeySource,
  type TokenRules,
  type TokenVerifier,
} from '@edge-gateway/core/jwt';
import type { JwtProvider } from '@edge-gateway/core/schema';
import { rbacError } from '../error-codes.ts';
import { claimCopiesOf, claimHeadersOf, copyClaims } from './claim-headers.ts';
import { fetchKeysOf } from './fetch-keys.ts';
import { findTokens, removeTokens, tokenSourceOf, type FoundTokens } from './token-source.ts';

const DEFAULT_CACHE_MS = 300_000;

/** A compiled provider: the locations of its tokens, and the changes for a valid one. */
export type Provider = Readonly<ReturnType<typeof createProvider>>;

/** Compiles a provider without its verification. Throws `ERR_RBAC_PROVIDER` for an invalid `claimsToHeaders`. */
export function createProvider(name: string, spec: JwtProvider) {
  const source = tokenSourceOf(spec);
  const copies = claimCopiesOf(name, spec);
  return {
    name,
    source,
    /** Lower case with `_` as `-`; those of the client are always removed. */
    claimHeaders: claimHeadersOf(copies),
    /** Metadata key of a failure; empty if failures are not recorded. */
    failureKey: spec.attachFailedStatusToMetadata ?? '',
    find: (rawHeaders: readonly string[], facts: Facts) => findTokens(source, facts, rawHeaders),
    /** Records claims, claim headers and the removal of the tokens that were found. */
    accept(claims: Claims, found: FoundTokens, facts: Facts): void {
      facts.claims.set(name, claims);
      copyClaims(copies, claims, facts);
      if (!spec.keepToken) removeTokens(found, source, facts);
    },
  };
}

/** Returns the rules of a provider for its tokens. Audiences are compared without scheme and final slash, as Envoy does. */
export function tokenRulesOf(provider: JwtProvider): TokenRules {
  const { issuer = '', audiences = [], clockSkewSeconds, requireExpiration = false } = provider;
  return {
    issuer,
    audiences,
    audienceMatch: 'withoutScheme',
    requireExpiration,
    ...(clockSkewSeconds !== undefined && { clockSkewSeconds }),
  };
}

/** Returns one of the counters of token checks. */
export const jwtCounter = ({ metrics }: Context, what: string): Counter =>
  metrics.counter(httpStat(`jwt_authn.${what}`));

/** Creates the verifier of a provider. Key sets and verified tokens live in the context, so that they survive reloads. */
export function verifierOf(name: string, spec: JwtProvider, context: Context): TokenVerifier {
  return createVerifier({
    rules: tokenRulesOf(spec),
    keys: keySourceOf(name, spec, context),
    cache: context.state(`rbac.tokens:${JSON.stringify(spec.jwks)}`, () => createTokenCache()),
    now: context.now,
    stats: { hits: jwtCounter(context, 'jwt_cache_hit'), misses: jwtCounter(context, 'jwt_cache_miss') },
  });
}

function keySourceOf(name: string, { jwks }: JwtProvider, context: Context): KeySource {
  return context.state(`rbac.keys:${JSON.stringify(jwks)}`, () => {
    if (!jwks?.remote) return writtenKeys(name, jwks?.local?.key ?? '');
    const { cacheDuration, asyncFetch } = jwks.remote;
    const keys = remoteKeys({
      fetchText: fetchKeysOf(name, jwks.remote, context),
      cacheMs: cacheDuration === undefined ? DEFAULT_CACHE_MS : parseDuration(cacheDuration),
      now: context.now,
      log: context.log.get('jwt'),
      from: { provider: name, server: URL.parse(jwks.remote.url ?? '')?.host ?? '' },
      stats: { success: jwtCounter(context, 'jwks_fetch_success'), failed: jwtCounter(context, 'jwks_fetch_failed') },
    });
    if (asyncFetch) {
      const ready = keys.get().then((found) => typeof found !== 'string');
      if (!asyncFetch.fastListener) context.holdListeners?.(`key set of JWT provider ${name}`, ready);
    }
    return keys;
  });
}

/** Throws `ERR_RBAC_KEYS` with the problem of the keys. */
function writtenKeys(provider: string, text: string): KeySource {
  if (text === '') {
    throw rbacError(
      'ERR_RBAC_KEYS',
      `provider ${provider}: jwks: set remote.url, or local.key to a key set or PEM text`,
    );
  }
  const keys = parseKeys(text);
  if (typeof keys !== 'string') return localKeys(keys);
  const problem = `invalid keys in jwks.local.key (${JWT_STATUS[keys].text}): write a JSON Web Key Set or PEM text`;
  throw rbacError('ERR_RBAC_KEYS', `provider ${provider}: ${problem}`);
}
