import { jwtBlockOf, parseDuration, redact, type Listener, type Route, type VirtualHost } from '@edge-gateway/core';
import type { JwtProvider, JwtProviders } from '@edge-gateway/core/schema';
import { message, protoDuration, typed, type Message } from './json.ts';

const JWT = 'envoy.extensions.filters.http.jwt_authn.v3';

/** When tokens are verified. */
type JwtStage = 'beforeExtAuth' | 'afterExtAuth';

/** The filter of each stage. */
export const JWT_FILTERS: Readonly<Record<JwtStage, string>> = {
  beforeExtAuth: 'envoy.filters.http.jwt_authn.before_ext_authz',
  afterExtAuth: 'envoy.filters.http.jwt_authn',
};

/** The providers of every virtual host and route as JwtAuthentication; `undefined` where there are none. */
export function jwtAuthentication({ virtualHosts }: Listener, stage: JwtStage): Message | undefined {
  const blocks = virtualHosts.flatMap((host) => [
    ...named(host.name, jwtBlockOf([host.options], stage)),
    ...host.routes.flatMap((route) => named(route.name, route.options.jwtProvidersStaged?.[stage])),
  ]);
  if (blocks.length === 0) return undefined;
  const providers = blocks.flatMap(([place, block]) =>
    Object.entries(block.providers ?? {}).map(([name, spec]) => [providerName(place, name), provider(spec)] as const),
  );
  return typed(`${JWT}.JwtAuthentication`, {
    providers: Object.fromEntries(providers),
    requirement_map: Object.fromEntries(blocks.map(([place, block]) => [place, requirement(place, block)])),
  });
}

function named(place: string, block: JwtProviders | undefined): [place: string, block: JwtProviders][] {
  return block && Object.keys(block.providers ?? {}).length > 0 ? [[place, block]] : [];
}

/** Returns the token requirements of a virtual host; `undefined` if it has none. */
export function jwtOfHost({ name, options }: VirtualHost, stage: JwtStage): Message | undefined {
  return named(name, jwtBlockOf([options], stage)).length > 0 ? perRoute({ requirement_name: name }) : undefined;
}

/** Returns the token requirements of a route; `undefined` if those of its virtual host apply. */
export function jwtOfRoute({ name, options }: Route, host: VirtualHost, stage: JwtStage): Message | undefined {
  const inherited = jwtBlockOf([host.options], stage);
  const block = jwtBlockOf([host.options, options], stage);
  if (block === inherited) return undefined;
  return perRoute(named(name, block).length > 0 ? { requirement_name: name } : { disabled: true });
}

function perRoute(fields: Message): Message {
  return typed(`${JWT}.PerRouteConfig`, fields);
}

function providerName(place: string, name: string): string {
  return `${place}.${name}`;
}

function requirement(place: string, block: JwtProviders): Message {
  const names = Object.keys(block.providers ?? {}).map((name) => ({ provider_name: providerName(place, name) }));
  const policy = block.allowMissingOrFailedJwt ? 'ALLOW_MISSING_OR_FAILED' : block.validationPolicy;
  const otherwise =
    policy === 'ALLOW_MISSING_OR_FAILED'
      ? [{ allow_missing_or_failed: {} }]
      : policy === 'ALLOW_MISSING'
        ? [{ allow_missing: {} }]
        : [];
  const all = [...names, ...otherwise];
  return all.length === 1 ? all[0]! : { requires_any: { requirements: all } };
}

function provider({ tokenSource, jwks, ...spec }: JwtProvider): Message {
  return message({
    issuer: spec.issuer || undefined,
    audiences: spec.audiences,
    ...keys(jwks),
    forward: spec.keepToken || undefined,
    from_headers: tokenSource?.headers?.map(({ header, prefix }) => message({ name: header, value_prefix: prefix })),
    from_params: tokenSource?.queryParams,
    claim_to_headers: spec.claimsToHeaders?.map(({ claim, header }) => ({ claim_name: claim, header_name: header })),
    clock_skew_seconds: spec.clockSkewSeconds ?? 60,
    failed_status_in_metadata: spec.attachFailedStatusToMetadata,
  });
}

function keys(jwks: JwtProvider['jwks']): Message {
  if (jwks?.local) return { local_jwks: { inline_string: redact({ jwks }).jwks.local!.key } };
  if (!jwks?.remote) return {};
  const { url, upstreamRef, cacheDuration = '5m', asyncFetch } = jwks.remote;
  const cluster = upstreamRef && `${upstreamRef.name}_${upstreamRef.namespace}`;
  return {
    remote_jwks: message({
      http_uri: message({ uri: url && redact(url), cluster }),
      cache_duration: parseDuration(cacheDuration) > 0 ? protoDuration(cacheDuration) : undefined,
      async_fetch: asyncFetch && message({ fast_listener: asyncFetch.fastListener }),
    }),
  };
}
