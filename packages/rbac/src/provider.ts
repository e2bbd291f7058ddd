import type { IncomingMessage } from 'node:http';
import { parseDuration, type Context, type Facts } from '@edge-gateway/core';
import type { JwtProvider } from '@edge-gateway/core/schema';
import { claimCopiesOf, claimHeadersOf, copyClaims } from './claim-headers.ts';
import type { Claims } from './claims.ts';
import type { JwtFailure } from './jwt-status.ts';
import { jwtCounter } from './jwt-counter.ts';
import { fetchKeysOf } from './fetch-keys.ts';
import { localKeys, remoteKeys, type KeySource } from './key-source.ts';
import { createTokenCache, type TokenCache } from './token-cache.ts';
import { findTokens, removeTokens, tokenSourceOf, type FoundTokens, type TokenSource } from './token-source.ts';
import type { Token } from './token.ts';
import { checkClaims, claimChecksOf, verifyToken, type Checks } from './verify.ts';

const DEFAULT_CACHE_MS = 300_000;

/** A provider made ready: what it checks, where its tokens are, what it does with a good one. */
export interface Provider {
  readonly name: string;
  readonly source: TokenSource;
  /** Claim headers, lower case with `_` as `-`; a client's own copies are always removed. */
  readonly claimHeaders: readonly string[];
  find(req: IncomingMessage, facts: Facts): FoundTokens;
  /** The verdict when it is known without waiting. */
  verdictNow(text: string): Token | JwtFailure | undefined;
  verdict(text: string): Promise<Token | JwtFailure>;
  /** Records claims, claim headers and the removal of the tokens that were found. */
  accept(claims: Claims, found: FoundTokens, facts: Facts): void;
  /** Key under which a failure is put into the metadata; empty: nowhere. */
  readonly failureKey: string;
}

/** Makes a provider ready. Key sets and remembered tokens live in the context, so that they survive reloads. */
export function createProvider(name: string, spec: JwtProvider, context: Context): Provider {
  const source = tokenSourceOf(spec);
  const keys = keySourceOf(name, spec, context);
  const checks: Checks = { ...claimChecksOf(spec), keys };
  const cache: TokenCache = context.state(`rbac.tokens:${JSON.stringify(spec.jwks)}`, () => createTokenCache());
  const copies = claimCopiesOf(name, spec);
  const hits = jwtCounter(context, 'jwt_cache_hit');
  const misses = jwtCounter(context, 'jwt_cache_miss');

  function verdictNow(text: string): Token | JwtFailure | undefined {
    if (keys.stale) return undefined;
    const known = cache.get(text, keys.version);
    if (!known) return undefined;
    hits.value++;
    keys.refreshAhead();
    return checkClaims(known, checks, context.now()) ?? known;
  }

  return {
    name,
    source,
    claimHeaders: claimHeadersOf(copies),
    failureKey: spec.attachFailedStatusToMetadata ?? '',
    find: ({ rawHeaders }, facts) => findTokens(source, { facts, rawHeaders }),
    verdictNow,
    async verdict(text) {
      if (keys.stale) {
        await keys.get();
        const known = verdictNow(text);
        if (known) return known;
      }
      misses.value++;
      const { version } = keys;
      const token = await verifyToken(text, checks, context.now());
      // Keys may have come meanwhile, and nobody can say whether the token was checked with the old or the new ones.
      if (typeof token !== 'string' && keys.version === version) cache.set(text, token, version);
      return token;
    },
    accept(claims, found, facts) {
      facts.claims.set(name, claims);
      copyClaims(copies, claims, facts);
      if (!spec.keepToken) removeTokens(found, source, facts);
    },
  };
}

function keySourceOf(name: string, { jwks }: JwtProvider, context: Context): KeySource {
  return context.state(`rbac.keys:${JSON.stringify(jwks)}`, () => {
    if (!jwks?.remote) return localKeys(name, jwks?.local?.key ?? '');
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
