import {
  redact,
  stagesOf,
  type Destination,
  type Listener,
  type Route,
  type SnapshotSettings,
  type VirtualHost,
} from '@edge-gateway/core';
import { extAuthz, extAuthzPerRoute } from './ext-authz.ts';
import { typed, type Message } from './json.ts';
import { JWT_FILTERS, jwtAuthentication, jwtOfHost, jwtOfRoute } from './jwt.ts';
import { localLimitOf, rateLimitFilters } from './rate-limits.ts';
import { rbacFilter, rbacPerRoute } from './rbac.ts';
import { trafficFilters, trafficOf } from './traffic-filters.ts';

const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
/** Filters that Envoy does not have. */
const OWN = 'io.edge-gateway';
const EXT_AUTHZ = 'envoy.filters.http.ext_authz';
const RBAC = 'envoy.filters.http.rbac';
const GRAPHQL = `${OWN}.graphql`;
const transformation = (stage: string): string => `${OWN}.transformation.${stage}`;

type Level = VirtualHost['options'] | Route['options'] | Destination['options'];

/** Returns the filters of a listener in order: those that one of its virtual hosts, routes or destinations uses. */
export function httpFilters(listener: Listener, settings: SnapshotSettings): Message[] {
  const levels = listener.virtualHosts.flatMap(levelsOf);
  const transforms = (stage: 'early' | 'regular'): Message | undefined =>
    levels.some((level) => stagesOf(level)?.[stage]) ? typed(`${OWN}.Transformation`) : undefined;
  const usesRbac = settings.requireRbac || levels.some((level) => 'rbac' in level && level.rbac);
  const traffic = trafficFilters(levels, listener.httpOptions);
  const limits = rateLimitFilters(levels, listener.httpOptions, settings);
  const servesGraphql = listener.virtualHosts.some(({ routes }) => routes.some(isGraphql));
  const filters: readonly (readonly [name: string, config: Message | undefined])[] = [
    traffic.fault,
    traffic.cors,
    limits.local,
    limits.early,
    [JWT_FILTERS.beforeExtAuth, jwtAuthentication(listener, 'beforeExtAuth')],
    [EXT_AUTHZ, levels.some(({ extauth }) => extauth) ? extAuthz(settings) : undefined],
    ...namedFilters(levels, settings),
    [transformation('early'), transforms('early')],
    [JWT_FILTERS.afterExtAuth, jwtAuthentication(listener, 'afterExtAuth')],
    [RBAC, usesRbac ? rbacFilter() : undefined],
    limits.regular,
    [transformation('regular'), transforms('regular')],
    traffic.csrf,
    [GRAPHQL, servesGraphql ? typed(`${OWN}.GraphQL`) : undefined],
    ['envoy.filters.http.router', typed(ROUTER)],
  ];
  return filters.flatMap(([name, typed_config]) => (typed_config ? [{ name, typed_config }] : []));
}

/** The filters of the auth servers that a level names; only the one of the nearest level runs. */
function namedFilters(
  levels: readonly Level[],
  { namedExtauth = {} }: SnapshotSettings,
): (readonly [name: string, config: Message])[] {
  const used = new Set(levels.flatMap(({ extauth }) => extauth?.customAuth?.name || []));
  return Object.entries(namedExtauth)
    .filter(([name]) => used.has(name))
    .map(([name, extauth]) => [`${EXT_AUTHZ}.${name}`, extAuthz({ extauth })]);
}

function levelsOf({ options, routes }: VirtualHost): Level[] {
  return [options, ...routes.flatMap((route) => [route.options, ...destinationsOf(route).map((each) => each.options)])];
}

function destinationsOf({ action }: Route): readonly Destination[] {
  return action.type === 'forward' ? action.destinations : [];
}

/** Returns the filter of the auth server that a level names. */
function filterOf({ extauth }: Level): string {
  const { name = '' } = extauth?.customAuth ?? {};
  return name === '' ? EXT_AUTHZ : `${EXT_AUTHZ}.${name}`;
}

function isGraphql({ action }: Route): boolean {
  return action.type === 'graphql';
}

/** Returns `typed_per_filter_config` of a virtual host. Without a block external auth is disabled there. */
export function filtersOfHost(host: VirtualHost, settings: SnapshotSettings): Message {
  const { options } = host;
  const usesExtAuth = levelsOf(host).some(({ extauth }) => extauth);
  const rbac = options.rbac ?? (settings.requireRbac ? {} : undefined);
  return perFilter({
    [JWT_FILTERS.beforeExtAuth]: jwtOfHost(host, 'beforeExtAuth'),
    [JWT_FILTERS.afterExtAuth]: jwtOfHost(host, 'afterExtAuth'),
    [RBAC]: rbac && rbacPerRoute(rbac),
    ...localLimitOf(options),
    ...trafficOf(options),
    ...transformationsOf(options),
    [filterOf(options)]: options.extauth || usesExtAuth ? extAuthzPerRoute(options.extauth) : undefined,
  });
}

/** Returns `typed_per_filter_config` of a route: its own settings. */
export function filtersOfRoute(route: Route, host: VirtualHost): Message {
  const { action, options } = route;
  return perFilter({
    [JWT_FILTERS.beforeExtAuth]: jwtOfRoute(route, host, 'beforeExtAuth'),
    [JWT_FILTERS.afterExtAuth]: jwtOfRoute(route, host, 'afterExtAuth'),
    [RBAC]: options.rbac && rbacPerRoute(options.rbac),
    ...localLimitOf(options),
    ...trafficOf(options),
    ...transformationsOf(options),
    [filterOf(options)]: options.extauth && extAuthzPerRoute(options.extauth),
    [GRAPHQL]:
      action.type === 'graphql'
        ? typed(`${OWN}.GraphQLRoute`, { api: `${action.api.namespace}.${action.api.name}` })
        : undefined,
  });
}

/** `typed_per_filter_config` of a weighted destination. */
export function filtersOfDestination({ options }: Destination): Message {
  return perFilter({
    ...trafficOf(options),
    ...transformationsOf(options),
    [filterOf(options)]: options.extauth && extAuthzPerRoute(options.extauth),
  });
}

function transformationsOf(level: Level): Record<string, Message | undefined> {
  const stages = stagesOf(level);
  const entries = (['early', 'regular'] as const).map((stage) => {
    const block = stages?.[stage];
    const config = block && typed(`${OWN}.Transformation`, redact(block) as Message);
    return [transformation(stage), config] as const;
  });
  return Object.fromEntries(entries);
}

function perFilter(configs: Readonly<Record<string, Message | undefined>>): Message {
  const entries = Object.entries(configs).filter(([, config]) => config);
  return entries.length > 0 ? { typed_per_filter_config: Object.fromEntries(entries) } : {};
}
