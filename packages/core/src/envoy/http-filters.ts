import type { Destination, Listener, Route, VirtualHost } from '../contract/snapshot.ts';
import { redact } from '../security/redact.ts';
import { stagesOf } from '../validate/transformation/stages.ts';
import { dumpedLimitFilters } from './dumped-limits.ts';
import { extAuthz, extAuthzPerRoute } from './ext-authz.ts';
import { usageOf, usageOfHost } from './filter-usage.ts';
import { grantedHeaders, guardedHeaders } from './guarded-headers.ts';
import { JWT_FILTERS, jwtAuthentication, noProviders, jwtOfHost, jwtOfRoute, providersOf } from './jwt-authn.ts';
import type { Level } from './level.ts';
import { LOCAL_USAGE } from './limit-usage.ts';
import { LOCAL_LIMITS, localLimitFilter, localLimitOf } from './local-limits.ts';
import { message, typed, type EnvoyMessage } from './message.ts';
import { rbacFilter, rbacPerRoute } from './rbac-filter.ts';
import { servedLimitFilters } from './served-limits.ts';
import { authCluster } from './services.ts';
import { csrfPolicy, trafficFilters, trafficOf } from './traffic-filters.ts';
import type { TranslationContext } from './translation-context.ts';

const FILTERS = 'envoy.extensions.filters.http';
/** Filters that Envoy does not have. */
const OWN = 'io.edge-gateway';
const EXT_AUTHZ = 'envoy.filters.http.ext_authz';
const RBAC = 'envoy.filters.http.rbac';
const BUFFER = 'envoy.filters.http.buffer';
const HEADERS = 'envoy.filters.http.header_mutation';
const ROUTER = 'envoy.filters.http.router';
const GRAPHQL = `${OWN}.graphql`;
const transformation = (stage: string): string => `${OWN}.transformation.${stage}`;

/** `isUsed` is false for a filter that is only enabled where a virtual host or a route configures it. */
type Filter = readonly [name: string, config: EnvoyMessage | undefined, isUsed?: boolean];

const known = new WeakMap<Listener, { readonly context: TranslationContext; readonly filters: EnvoyMessage[] }>();

/** Returns the filters of a listener, see {@link createFilters}; the same ones for the same listener and context. */
export function httpFilters(listener: Listener, context: TranslationContext): EnvoyMessage[] {
  const found = known.get(listener);
  const { settings, services, secrets } = context;
  if (found?.context.settings === settings && found.context.services === services && found.context.secrets === secrets)
    return found.filters;
  const filters = createFilters(listener, { settings, secrets, ...(services && { services }) });
  known.set(listener, { context: { settings, secrets, ...(services && { services }) }, filters });
  return filters;
}

/**
 * Returns the filters of a listener in order: those that one of its virtual hosts, routes or destinations uses. An Envoy always has those of
 * policies: older connections keep the filters of their listener, but receive new virtual hosts, whose policies would not apply.
 */
function createFilters(listener: Listener, context: TranslationContext): EnvoyMessage[] {
  const { httpOptions, virtualHosts } = listener;
  const { settings, services } = context;
  const usage = usageOf(virtualHosts);
  const traffic = trafficFilters(usage, httpOptions);
  const limits = dumpedLimitFilters(usage, settings);
  const hasLocalLimits = httpOptions.httpLocalRatelimit ?? usage.has(LOCAL_USAGE);
  const own = (used: string, type: string): EnvoyMessage | undefined =>
    usage.has(used) && !services ? typed(`${OWN}.${type}`) : undefined;
  const policy = (name: string, isUsed: boolean, create: () => EnvoyMessage): Filter => [
    name,
    isUsed || services ? create() : undefined,
    isUsed,
  ];
  const jwt = (stage: keyof typeof JWT_FILTERS): Filter => {
    const config = jwtAuthentication(listener, stage, context);
    return policy(JWT_FILTERS[stage], config !== undefined, () => config ?? noProviders());
  };
  const auth = (): EnvoyMessage => extAuthz(settings, context);
  const hasAuth = !services || authCluster(settings, services) !== undefined;
  const filters: readonly Filter[] = [
    ...(services ? servedFilters(listener, context) : []),
    traffic.fault,
    traffic.cors,
    [LOCAL_LIMITS, hasLocalLimits ? localLimitFilter(httpOptions, context) : undefined],
    ...(services ? servedLimitFilters('early', usage, context) : [limits.early]),
    jwt('beforeExtAuth'),
    ...(hasAuth || usage.has('extauth') ? [policy(EXT_AUTHZ, usage.has('extauth'), auth)] : []),
    ...(services ? [] : namedFilters(usage, context)),
    [transformation('early'), own('transformation.early', 'Transformation')],
    jwt('afterExtAuth'),
    policy(RBAC, settings.requireRbac || usage.has('rbac'), rbacFilter),
    ...(services ? servedLimitFilters('regular', usage, context) : [limits.regular]),
    [transformation('regular'), own('transformation.regular', 'Transformation')],
    policy(traffic.csrf[0], traffic.csrf[1] !== undefined, () => traffic.csrf[1] ?? csrfPolicy({})),
    [BUFFER, services && httpOptions.buffer ? bufferOf(httpOptions.buffer) : undefined],
    [GRAPHQL, own('graphql', 'GraphQL')],
    [ROUTER, router(httpOptions, context)],
  ];
  return filters.flatMap(([name, typed_config, isUsed = true]) =>
    typed_config ? [{ name, typed_config, ...(!isUsed && { disabled: true }) }] : [],
  );
}

/** Returns filters for what the gateway does without a filter. */
function servedFilters({ httpOptions, virtualHosts }: Listener, { settings }: TranslationContext): readonly Filter[] {
  const translatesGrpcWeb = !(httpOptions.grpcWeb ? httpOptions.grpcWeb.disable : settings.disableGrpcWeb);
  const removes = settings.extauth !== undefined || virtualHosts.some((host) => grantedHeaders(host).length > 0);
  return [
    ['envoy.filters.http.grpc_web', translatesGrpcWeb ? typed(`${FILTERS}.grpc_web.v3.GrpcWeb`) : undefined],
    [HEADERS, typed(`${FILTERS}.header_mutation.v3.HeaderMutation`), removes],
  ];
}

function router({ router: options }: Listener['httpOptions'], { services }: TranslationContext): EnvoyMessage {
  return typed(`${FILTERS}.router.v3.Router`, {
    ...(services && {
      suppress_envoy_headers: options?.suppressEnvoyHeaders || undefined,
      dynamic_stats: options?.dynamicStats,
    }),
  });
}

function bufferOf({ maxRequestBytes }: NonNullable<Listener['httpOptions']['buffer']>): EnvoyMessage {
  return typed(`${FILTERS}.buffer.v3.Buffer`, { max_request_bytes: maxRequestBytes });
}

/** The filters of the auth servers that a level names; only the one of the nearest level runs. */
function namedFilters(usage: ReadonlySet<string>, context: TranslationContext): Filter[] {
  return Object.entries(context.settings.namedExtauth ?? {})
    .filter(([name]) => usage.has(`auth.${name}`))
    .map(([name, extauth]) => [`${EXT_AUTHZ}.${name}`, extAuthz({ extauth }, context)]);
}

/** Returns the filter of the auth server that a level names. */
function filterOf({ extauth }: Level): string {
  const { name = '' } = extauth?.customAuth ?? {};
  return name === '' ? EXT_AUTHZ : `${EXT_AUTHZ}.${name}`;
}

/** The names of the filters of a listener, which are disabled unless a level enables them. */
export interface HostFilters extends TranslationContext {
  /** Names of the filters of an Envoy's listener. */
  readonly filters?: ReadonlySet<string>;
}

/** Returns `typed_per_filter_config` of a virtual host. Without a block, external auth is disabled there. */
export function filtersOfHost(host: VirtualHost, context: HostFilters): EnvoyMessage {
  const { options } = host;
  const { settings, services, filters } = context;
  const usesExtAuth = filters ? filters.has(EXT_AUTHZ) : usageOfHost(host).has('extauth');
  const rbac = options.rbac ?? (settings.requireRbac ? {} : undefined);
  return perFilter({
    ...(services && { [HEADERS]: removalOf(host, context) }),
    [JWT_FILTERS.beforeExtAuth]: jwtOfHost(host, 'beforeExtAuth'),
    [JWT_FILTERS.afterExtAuth]: jwtOfHost(host, 'afterExtAuth'),
    // The providers of a route decide what its policies read.
    [RBAC]: rbac && !services ? rbacPerRoute(rbac) : undefined,
    ...localLimitOf(options, context),
    ...trafficOf(options),
    ...(services ? { [BUFFER]: bufferPerRoute(options, filters) } : transformationsOf(options)),
    [filterOf(options)]: options.extauth || usesExtAuth ? extAuthzPerRoute(options.extauth) : undefined,
  });
}

/** Returns `typed_per_filter_config` of a route: its own settings. */
export function filtersOfRoute(route: Route, host: VirtualHost, context: HostFilters): EnvoyMessage {
  const { action, options } = route;
  const { settings, services, filters } = context;
  const rbac = services ? (options.rbac ?? host.options.rbac ?? (settings.requireRbac ? {} : undefined)) : options.rbac;
  return perFilter({
    [JWT_FILTERS.beforeExtAuth]: jwtOfRoute(route, host, 'beforeExtAuth'),
    [JWT_FILTERS.afterExtAuth]: jwtOfRoute(route, host, 'afterExtAuth'),
    [RBAC]: rbac && rbacPerRoute(rbac, services && providersOf(host, route)),
    ...localLimitOf(options, context),
    ...trafficOf(options),
    ...(services ? { [BUFFER]: bufferPerRoute(options, filters) } : transformationsOf(options)),
    [filterOf(options)]: options.extauth && extAuthzPerRoute(options.extauth),
    [GRAPHQL]:
      action.type === 'graphql'
        ? typed(`${OWN}.GraphQLRoute`, { api: `${action.api.namespace}.${action.api.name}` })
        : undefined,
  });
}

/** `typed_per_filter_config` of a weighted destination. */
export function filtersOfDestination({ options }: Destination, { services, filters }: HostFilters): EnvoyMessage {
  return perFilter({
    ...trafficOf(options),
    ...(services ? { [BUFFER]: bufferPerRoute(options, filters) } : transformationsOf(options)),
    [filterOf(options)]: options.extauth && extAuthzPerRoute(options.extauth),
  });
}

/** Returns `typed_per_filter_config` that disables all filters but the last, which forwards. */
export function withoutFilters(filters: ReadonlySet<string>): EnvoyMessage {
  const disabled = { '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig', disabled: true };
  const names = [...filters].filter((name) => name !== ROUTER);
  return perFilter(Object.fromEntries(names.map((name) => [name, disabled])));
}

function bufferPerRoute({ bufferPerRoute: block }: Level, filters: ReadonlySet<string> | undefined) {
  if (!block || !filters?.has(BUFFER)) return undefined;
  return typed(
    `${FILTERS}.buffer.v3.BufferPerRoute`,
    block.buffer ? { buffer: { max_request_bytes: block.buffer.maxRequestBytes } } : { disabled: true },
  );
}

function removalOf(host: VirtualHost, { settings, filters }: HostFilters): EnvoyMessage | undefined {
  if (!filters?.has(HEADERS)) return undefined;
  const names = guardedHeaders(host, settings);
  if (names.size === 0) return undefined;
  const mutations = [...names].sort().flatMap((name) => spellingsOf(name).map((remove) => ({ remove })));
  return typed(`${FILTERS}.header_mutation.v3.HeaderMutationPerRoute`, { mutations: { request_mutations: mutations } });
}

/** More dashes have too many combinations: only the two uniform spellings. */
const MAX_DASHES = 5;

/** Returns a name with each combination of `-` and `_`. */
function spellingsOf(name: string): string[] {
  const [first = '', ...others] = name.split(/[-_]/);
  if (others.length > MAX_DASHES) return [...new Set([name, name.replaceAll('_', '-'), name.replaceAll('-', '_')])];
  return others.reduce<string[]>(
    (spellings, part) => spellings.flatMap((start) => [`${start}-${part}`, `${start}_${part}`]),
    [first],
  );
}

function transformationsOf(level: Level): Record<string, EnvoyMessage | undefined> {
  const stages = stagesOf(level);
  const entries = (['early', 'regular'] as const).map((stage) => {
    const block = stages?.[stage];
    const config = block && typed(`${OWN}.Transformation`, redact(block) as EnvoyMessage);
    return [transformation(stage), config] as const;
  });
  return Object.fromEntries(entries);
}

function perFilter(configs: Readonly<Record<string, EnvoyMessage | undefined>>): EnvoyMessage {
  const entries = Object.entries(configs).filter(([, config]) => config);
  return entries.length > 0 ? { typed_per_filter_config: message(Object.fromEntries(entries)) } : {};
}
