import type { IncomingMessage } from 'node:http';
import { parseDuration, type Context, type Facts } from '@edge-gateway/core';
import type { JwtProvider } from '@edge-gateway/core/schema';
import { claimAt, headerValueOf, type Claims } from './claims.ts';
import type { JwtFailure } from './jwt-status.ts';
import { fetchKeysOf } from './fetch-keys.ts';
import { localKeys, remoteKeys, type KeySource } from './key-source.ts';
import { createTokenCache, type TokenCache } from './token-cache.ts';
import { findTokens, tokenSourceOf, withoutTokens, type TokenSource } from './token-source.ts';
import type { Token } from './token.ts';
import { checkClaims, DEFAULT_CLOCK_SKEW_SECONDS, normalAudience, verifyToken, type Checks } from './verify.ts';

const DEFAULT_CACHE_MS = 300_000;

/** A provider made ready: what it checks, where its tokens are, what it does with a good one. */
export interface Provider {
  readonly name: string;
  readonly source: TokenSource;
  /** Claim headers, lower case with `_` as `-`; a client's own copies are always removed. */
  readonly claimHeaders: readonly string[];
  tokens(req: IncomingMessage, facts: Facts): string[];
  /** The verdict when it is known without waiting. */
  verdictNow(text: string): Token | JwtFailure | undefined;
  verdict(text: string): Promise<Token | JwtFailure>;
  /** Records claims, claim headers and the removal of the token. */
  accept(claims: Claims, facts: Facts): void;
  /** Key under which a failure is put into the metadata; empty: nowhere. */
  readonly failureKey: string;
}

/** Makes a provider ready. Key sets and remembered tokens live in the context, so that they survive reloads. */
export function createProvider(name: string, spec: JwtProvider, context: Context): Provider {
  const source = tokenSourceOf(spec);
  const keys = keySourceOf(spec, context);
  const checks: Checks = {
    issuer: spec.issuer ?? '',
    audiences: (spec.audiences ?? []).map(normalAudience),
    clockSkewSeconds: spec.clockSkewSeconds ?? DEFAULT_CLOCK_SKEW_SECONDS,
    keys,
  };
  const cache: TokenCache = context.state(`rbac.tokens:${JSON.stringify(spec.jwks)}`, () => createTokenCache());
  const copies = (spec.claimsToHeaders ?? []).map(({ claim = '', header = '', append = false }) => ({
    claim,
    header: header.toLowerCase(),
    append,
  }));
  const stats = statsOf(context);

  return {
    name,
    source,
    claimHeaders: copies.map(({ header }) => header.replaceAll('_', '-')),
    failureKey: spec.attachFailedStatusToMetadata ?? '',
    tokens: (req, facts) => findTokens(source, req, facts.path),
    verdictNow(text) {
      const known = cache.get(text, keys.version);
      if (!known) return undefined;
      stats.hit.value++;
      if (!keys.fresh()) void keys.get();
      return checkClaims(known, checks, context.now()) ?? known;
    },
    async verdict(text) {
      stats.miss.value++;
      const token = await verifyToken(text, checks, context.now());
      if (typeof token !== 'string') cache.set(text, token, keys.version);
      return token;
    },
    accept(claims, facts) {
      facts.claims.set(name, claims);
      for (const { claim, header, append } of copies) {
        const value = headerValueOf(claimAt(claims, claim, '.'));
        if (value !== undefined) facts.requestChanges.push({ op: append ? 'append' : 'set', name: header, value });
      }
      if (spec.keepToken) return;
      for (const { header } of source.headers) facts.requestChanges.push({ op: 'remove', name: header });
      facts.path = withoutTokens(facts.path, source.queryParams);
    },
  };
}

function keySourceOf({ jwks }: JwtProvider, context: Context): KeySource {
  return context.state(`rbac.keys:${JSON.stringify(jwks)}`, () => {
    if (!jwks?.remote) return localKeys(jwks?.local?.key ?? '');
    const keys = remoteKeys({
      fetchText: fetchKeysOf(jwks.remote, context),
      cacheMs: jwks.remote.cacheDuration === undefined ? DEFAULT_CACHE_MS : parseDuration(jwks.remote.cacheDuration),
      now: context.now,
      log: context.log.get('jwt'),
    });
    if (jwks.remote.asyncFetch) void keys.get();
    return keys;
  });
}

function statsOf({ metrics }: Context) {
  const counter = (what: string) =>
    metrics.counter({
      path: `http.http.jwt_authn.${what}`,
      metric: `envoy_http_jwt_authn_${what}`,
      labels: { envoy_http_conn_manager_prefix: 'http' },
    });
  return { hit: counter('jwt_cache_hit'), miss: counter('jwt_cache_miss') };
}
