import type { Listener, Route, VirtualHost } from '../contract/snapshot.ts';
import { jwtBlockOf } from '../schema/auth/jwt-levels.ts';
import type { JwtProvider, JwtProviders } from '../schema/auth/jwt.ts';
import { redact } from '../security/redact.ts';
import { parseDuration } from '../syntax/duration.ts';
import { isExpressedJwt } from './forms/route-forms.ts';
import { keySetForEnvoy } from './local-keys.ts';
import { shownUrl, type MessageContext } from './translation-context.ts';
import { message, protoDuration, typed, type EnvoyMessage } from './message.ts';

const JWT = 'envoy.extensions.filters.http.jwt_authn.v3';

/** Timeout of fetching keys. */
const JWKS_TIMEOUT = '5s';

/** When tokens are verified. */
type JwtStage = 'beforeExtAuth' | 'afterExtAuth';

/** The filter of each stage. */
export const JWT_FILTERS: Readonly<Record<JwtStage, string>> = {
  beforeExtAuth: 'envoy.filters.http.jwt_authn.before_ext_authz',
  afterExtAuth: 'envoy.filters.http.jwt_authn',
};

/** The providers of every virtual host and route as JwtAuthentication; `undefined` where there are none. */
export function jwtAuthentication(
  { virtualHosts }: Listener,
  stage: JwtStage,
  context: Pick<MessageContext, 'services'>,
): EnvoyMessage | undefined {
  const { services } = context;
  // Routes with the others are handed over.
  const blocks: Blocks[JwtStage][number][] = [];
  for (const host of virtualHosts) {
    // Most hosts have none.
    for (const each of blocksOf(host)[stage]) if (!services || isExpressedJwt(each[1])) blocks.push(each);
  }
  const providerName = services ? servedName : shownName;
  if (blocks.length === 0) return undefined;
  const providers = blocks.flatMap(([place, block]) =>
    Object.entries(block.providers ?? {}).map(
      ([name, spec]) => [providerName(place, name), provider(name, spec, context)] as const,
    ),
  );
  return typed(`${JWT}.JwtAuthentication`, {
    providers: Object.fromEntries(providers),
    requirement_map: Object.fromEntries(
      blocks.map(([place, block]) => [
        place,
        requirement(
          Object.keys(block.providers ?? {}).map((name) => providerName(place, name)),
          block,
        ),
      ]),
    ),
  });
}

/** Returns the filter of a stage without any providers: a route that needs one is rejected. */
export const noProviders = (): EnvoyMessage => typed(`${JWT}.JwtAuthentication`);

type Blocks = Readonly<Record<JwtStage, readonly (readonly [place: string, block: JwtProviders])[]>>;

const NO_BLOCKS: Blocks = Object.freeze({ beforeExtAuth: [], afterExtAuth: [] });
const known = new WeakMap<VirtualHost, Blocks>();

/** Returns the blocks of a virtual host and its routes; the same ones for the same virtual host. */
function blocksOf(host: VirtualHost): Blocks {
  let found = known.get(host);
  if (!found) {
    const of = (stage: JwtStage) => [
      ...named(host.name, jwtBlockOf([host.options], stage)),
      ...host.routes.flatMap((route) => named(placeOf(host, route), route.options.jwtProvidersStaged?.[stage])),
    ];
    const [beforeExtAuth, afterExtAuth] = [of('beforeExtAuth'), of('afterExtAuth')];
    const isEmpty = beforeExtAuth.length === 0 && afterExtAuth.length === 0;
    known.set(host, (found = isEmpty ? NO_BLOCKS : { beforeExtAuth, afterExtAuth }));
  }
  return found;
}

/** Returns the names of the providers whose tokens are verified on a route, at any stage. */
export function providersOf(host: VirtualHost, route: Route): string[] {
  const stages: readonly JwtStage[] = ['beforeExtAuth', 'afterExtAuth'];
  const blocks = stages.map((stage) => jwtBlockOf([host.options, route.options], stage));
  return [...new Set(blocks.flatMap((block) => Object.keys(block?.providers ?? {})))];
}

function named(place: string, block: JwtProviders | undefined): [place: string, block: JwtProviders][] {
  return block && Object.keys(block.providers ?? {}).length > 0 ? [[place, block]] : [];
}

/** Returns the token requirements of a virtual host; `undefined` if it has none. */
export function jwtOfHost({ name, options }: VirtualHost, stage: JwtStage): EnvoyMessage | undefined {
  return named(name, jwtBlockOf([options], stage)).length > 0 ? perRoute({ requirement_name: name }) : undefined;
}

/** A route of one virtual host may have the name of another virtual host, which never contains a space. */
const placeOf = (host: VirtualHost, route: Route): string => `${host.name} ${route.name}`;

/** Returns the token requirements of a route; `undefined` if those of its virtual host apply. */
export function jwtOfRoute(route: Route, host: VirtualHost, stage: JwtStage): EnvoyMessage | undefined {
  const { options } = route;
  const place = placeOf(host, route);
  const inherited = jwtBlockOf([host.options], stage);
  const block = jwtBlockOf([host.options, options], stage);
  if (block === inherited) return undefined;
  return perRoute(named(place, block).length > 0 ? { requirement_name: place } : { disabled: true });
}

function perRoute(fields: EnvoyMessage): EnvoyMessage {
  return typed(`${JWT}.PerRouteConfig`, fields);
}

/** The name in a dump. */
const shownName = (place: string, name: string): string => `${place}.${name}`;

/** The same text for no two places: names of virtual hosts and providers may contain dots. */
const servedName = (place: string, name: string): string => JSON.stringify([place, name]);

function requirement(providers: readonly string[], block: JwtProviders): EnvoyMessage {
  const names = providers.map((provider_name) => ({ provider_name }));
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

function provider(
  name: string,
  { tokenSource, jwks, ...spec }: JwtProvider,
  context: Pick<MessageContext, 'services'>,
): EnvoyMessage {
  return message({
    issuer: spec.issuer || undefined,
    audiences: spec.audiences,
    ...keys(jwks, context),
    forward: spec.keepToken || undefined,
    from_headers: tokenSource?.headers?.map(({ header, prefix }) => message({ name: header, value_prefix: prefix })),
    from_params: tokenSource?.queryParams,
    claim_to_headers: spec.claimsToHeaders?.map(({ claim, header }) => ({ claim_name: claim, header_name: header })),
    clock_skew_seconds: spec.clockSkewSeconds ?? 60,
    failed_status_in_metadata: spec.attachFailedStatusToMetadata || undefined,
    // What the RBAC policies read; claims in headers may choose another route.
    ...(context.services && {
      payload_in_metadata: name,
      clear_route_cache: spec.claimsToHeaders?.length ? true : undefined,
    }),
  });
}

function keys(jwks: JwtProvider['jwks'], context: Pick<MessageContext, 'services'>): EnvoyMessage {
  if (jwks?.local) {
    const { key = '' } = jwks.local;
    return { local_jwks: { inline_string: context.services ? keySetForEnvoy(key) : redact({ jwks }).jwks.local!.key } };
  }
  if (!jwks?.remote) return {};
  const { url, upstreamRef, cacheDuration = '5m', asyncFetch } = jwks.remote;
  const cluster = upstreamRef && `${upstreamRef.name}_${upstreamRef.namespace}`;
  return {
    remote_jwks: message({
      http_uri: message({
        uri: url && shownUrl(url, context),
        cluster,
        timeout: context.services && JWKS_TIMEOUT,
      }),
      cache_duration: parseDuration(cacheDuration) > 0 ? protoDuration(cacheDuration) : undefined,
      async_fetch: asyncFetch && message({ fast_listener: asyncFetch.fastListener }),
    }),
  };
}
